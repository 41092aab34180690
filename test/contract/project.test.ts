import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SaveProjectTail } from "../../shared/contract/project.ts";
import { openRun } from "../support/app/live-run.ts";
import { contentsOf, opened, SCENE, saved, sceneOf, staged } from "../support/project/project.ts";
import { lidarScanned, SCANNER, wall } from "../support/session/lidar-scans.ts";
import { lineCloud, refusal, streamed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const scenes = () => join(made.folder, "data", "scenes");
const at = (name: string) => join(made.folder, name);
const post = (type: string | undefined, payload: Buffer | string) =>
  made.app.inject({
    method: "POST",
    url: "/api/project/scene",
    ...(type === undefined ? {} : { headers: { "content-type": type } }),
    payload,
  });

describe("a scene document", () => {
  test("is staged as it is, and its token is for one use", async () => {
    const bytes = Buffer.alloc(3_000_000, "scene ");
    const token = await staged(made, bytes);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    const hash = (data: Buffer) => createHash("sha256").update(data).digest("hex");
    expect(hash(await sceneOf(made, token))).toBe(hash(bytes));
    const again = await made.app.inject({ url: `/api/project/scene/${token}` });
    expect([again.statusCode, again.json()]).toEqual([
      404,
      { detail: "Unknown or expired scene token.", code: "not_found" },
    ]);
    await expect.poll(() => readdirSync(scenes()), { timeout: 20_000 }).toEqual([]);
  });

  test("that is empty or of another type is refused, and leaves no file", async () => {
    expect([(await post("application/octet-stream", "")).statusCode, (await post(undefined, "")).statusCode]).toEqual([
      400, 400,
    ]);
    expect((await post("application/json", "{}")).statusCode).toBe(415);
    expect(existsSync(scenes()) ? readdirSync(scenes()) : []).toEqual([]);
  });

  test("a HEAD request does not use up the token; a name that is no token is none", async () => {
    const token = await staged(made);
    expect((await made.app.inject({ method: "HEAD", url: `/api/project/scene/${token}` })).statusCode).toBe(405);
    for (const name of ["..", "%2e%2e%2fsecret", `${token}x`])
      expect((await made.app.inject({ url: `/api/project/scene/${name}` })).statusCode).toBe(404);
    expect(await sceneOf(made, token)).toEqual(SCENE);
  });

  test("a client that hangs up in the middle leaves no file", async () => {
    const stop = new AbortController();
    async function* body() {
      yield new Uint8Array(100_000);
      stop.abort();
      yield new Uint8Array(100_000);
    }
    const sent = fetch(`${made.base}/api/project/scene`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: body() as never,
      duplex: "half",
      signal: stop.signal,
    } as RequestInit);
    await expect(sent).rejects.toThrow();
    await expect.poll(() => (existsSync(scenes()) ? readdirSync(scenes()) : []), { timeout: 20_000 }).toEqual([]);
  });
});

describe("save", () => {
  test("streams progress with the stages of the contract", async () => {
    const { session_id } = await lineCloud(made, [1, 2, 3]);
    const { stages, tail } = await streamed(made, SaveProjectTail, "/api/project/save", {
      path: at("stages.proj"),
      scene_token: await staged(made),
      session_ids: [session_id],
    });
    const labels = stages.map(([, label]) => label);
    for (const label of ["Writing scene", "Saving cloud 1/1", "Finishing"]) expect(labels).toContain(label);
    const fractions = stages.flatMap(([fraction]) => fraction ?? []);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(tail).toMatchObject({ success: true, sessions: 1, missing_sessions: [] });
  });

  test("uses up the token of a request that is refused", async () => {
    const scene_token = await staged(made);
    const body = { path: "relative.proj", scene_token };
    expect(await refusal(made, "/api/project/save", body)).toEqual([
      400,
      'path "relative.proj" is not an absolute path',
    ]);
    expect((await refusal(made, "/api/project/save", { ...body, path: at("a.proj") }))[0]).toBe(404);
    await expect.poll(() => readdirSync(scenes()), { timeout: 20_000 }).toEqual([]);
  });

  test.each([
    ["no path", {}],
    ["ids that are no list", { path: "/a.proj", scene_token: "x", session_ids: "a" }],
    ["a token that is a number", { path: "/a.proj", scene_token: 1 }],
  ])("%s: 422", async (_name, body) => {
    expect((await refusal(made, "/api/project/save", body))[0]).toBe(422);
  });

  test("warns of an unknown key", async () => {
    const tail = await saved(made, at("keys.proj"), [], { compress: 9 });
    expect(tail.warnings).toEqual([expect.stringContaining('"compress"')]);
  });
});

describe("open", () => {
  test("streams progress with the stages of the contract", async () => {
    const { session_id } = await lineCloud(made, [1, 2, 3]);
    await saved(made, at("open.proj"), [session_id]);
    const run = await openRun(made.base, "/api/project/open", { path: at("open.proj") });
    expect((await run.outcome).kind).toBe("json");
    expect(run.markers.map(({ message }) => message)).toContain("Opening cloud 1/1");
  });

  test("a folder and a missing file are refused before the stream", async () => {
    expect((await refusal(made, "/api/project/open", { path: made.folder }))[0]).toBe(400);
    expect(await refusal(made, "/api/project/open", { path: at("none.proj") })).toEqual([
      404,
      `File not found: ${at("none.proj")}`,
    ]);
  });

  test("a scan of our own whose standard fields are not all shown comes back as it was", async () => {
    const scan = await lidarScanned(made, {
      scanners: [SCANNER],
      meshes: [wall(5, 2)],
      retained_standard_fields: [],
      record_misses: true,
    });
    const id = scan.meta.scanners[0]?.session?.session_id as string;
    const before = contentsOf((await made.deps.sessions.get(id)).state);
    expect(before.meta.hidden_fixed).toEqual(["intensity", "timestamps"]);
    await saved(made, at("scan.proj"), [id]);
    const { session_map } = await opened(made, at("scan.proj"));
    expect(contentsOf((await made.deps.sessions.get(session_map[id] as string)).state)).toEqual(before);
  });

  test("gives the same project new ids each time", async () => {
    const { session_id } = await lineCloud(made, [1]);
    await saved(made, at("again.proj"), [session_id]);
    const ids = new Set([session_id]);
    for (let i = 0; i < 3; i += 1) ids.add((await opened(made, at("again.proj"))).session_map[session_id] as string);
    expect(ids.size).toBe(4);
  });
});
