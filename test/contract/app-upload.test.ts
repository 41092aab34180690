import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { UploadStore } from "../../backend/sessions/upload-store.ts";
import { createClient } from "../../shared/client/index.ts";
import { UploadResponse } from "../../shared/contract/app-upload.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const root = () => join(made.folder, "data", "uploads");
const left = () => (existsSync(root()) ? readdirSync(root()) : []);
const bytes = async function* () {
  yield Buffer.from("points");
};
const post = (name: string | undefined, payload: Buffer | string, type = "application/octet-stream") =>
  made.app.inject({
    method: "POST",
    url: name === undefined ? "/app/upload" : `/app/upload?name=${encodeURIComponent(name)}`,
    headers: { "content-type": type },
    payload,
  });

describe("an uploaded file", () => {
  test("is stored as it is, becomes a session, and is removed when asked", async () => {
    const client = createClient({ baseUrl: made.base });
    const text = Array.from({ length: 500 }, (_, i) => `${i % 25} ${Math.floor(i / 25)} ${i % 7}`).join("\n");
    const stored = await client.uploadFile(new Blob([text]), "plot 7.xyz");
    expect(stored).toMatchObject({ name: "plot 7.xyz", bytes: text.length, expires_s: 86_400 });
    expect(readFileSync(stored.path, "utf8")).toBe(text);
    if (process.platform !== "win32") expect(statSync(stored.path).mode & 0o077).toBe(0);
    const created = await client.createSession({ source_path: stored.path });
    expect(created.point_count).toBe(500);
    expect(await client.deleteUpload(stored.upload_id)).toEqual({ upload_id: stored.upload_id, deleted: true });
    expect(left()).toEqual([]);
    expect(await client.deleteUpload(stored.upload_id)).toEqual({ upload_id: stored.upload_id, deleted: false });
    await client.closeSession(created.session_id);
  });

  test("stays in its own folder, whatever its name", async () => {
    for (const name of [
      "../../evil.laz",
      "/etc/passwd",
      "..\\..\\evil.laz",
      "..",
      "a\0b\n.las",
      "nul.txt",
      "x".repeat(999),
    ]) {
      const answer = await post(name, "points");
      const { path, name: stored, upload_id } = UploadResponse.parse(answer.json());
      expect(dirname(dirname(path))).toBe(root());
      expect(basename(path)).toBe(stored);
      expect(Buffer.byteLength(stored)).toBeLessThanOrEqual(200);
      await made.app.inject({ method: "DELETE", url: `/app/upload/${upload_id}` });
    }
    for (const id of ["%2e%2e%2fsessions", "0".repeat(32)]) {
      expect((await made.app.inject({ method: "DELETE", url: `/app/upload/${id}` })).json()).toMatchObject({
        deleted: false,
      });
    }
    expect(left()).toEqual([]);
  });

  test("that is empty, nameless or of another type is refused, and leaves nothing", async () => {
    expect((await post("a.las", "")).statusCode).toBe(400);
    expect((await post(undefined, "x")).statusCode).toBe(422);
    expect((await post("", "x")).statusCode).toBe(422);
    expect((await post("x".repeat(1025), "x")).statusCode).toBe(422);
    expect((await post("a.las", "{}", "application/json")).statusCode).toBe(415);
    expect(left()).toEqual([]);
  });

  test("of a client that hangs up in the middle leaves nothing", async () => {
    const stop = new AbortController();
    async function* body() {
      yield new Uint8Array(100_000);
      await expect.poll(left, { timeout: 20_000 }).toHaveLength(1);
      stop.abort();
      yield new Uint8Array(100_000);
    }
    const sent = fetch(`${made.base}/app/upload?name=cut.laz`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: body() as never,
      duplex: "half",
      signal: stop.signal,
    } as RequestInit);
    await expect(sent).rejects.toThrow();
    await expect.poll(left, { timeout: 20_000 }).toEqual([]);
  });

  test("larger than the disk is refused before its first byte", async () => {
    const answer = await made.deps.uploads
      .add({ name: "huge.laz", declared: Number.MAX_SAFE_INTEGER, chunks: bytes() })
      .catch((error: unknown) => error);
    expect(answer).toMatchObject({ code: "no_space", message: expect.stringMatching(/MiB left/) });
    expect(left()).toEqual([]);
  });
});

describe("uploads that nobody deletes", () => {
  const silent = pino({ level: "silent" });
  test("expire, and end with the service", async () => {
    const folder = join(made.folder, "expiring");
    const store = new UploadStore(folder, 30, silent);
    await store.add({ name: "a.las", declared: undefined, chunks: bytes() });
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    const lasting = new UploadStore(folder, 60_000, silent);
    await lasting.add({ name: "a.las", declared: 6, chunks: bytes() });
    expect(readdirSync(folder)).toHaveLength(1);
    await lasting.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("of a killed process are removed at the next start; other files are not", async () => {
    const folder = join(made.folder, "swept");
    const dead = `999999999-${"a".repeat(32)}`;
    const living = `${process.ppid}-${"b".repeat(32)}`;
    for (const name of [dead, living, "notes"]) {
      mkdirSync(join(folder, name), { recursive: true });
      await writeFile(join(folder, name, "a.las"), "x");
    }
    await new UploadStore(folder, 60_000, silent).sweep();
    expect(readdirSync(folder).sort()).toEqual([living, "notes"].sort());
  });
});
