import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { extract, showInfo, verify } from "../../backend/cli/project/project.ts";
import { opened, SCENE, saved } from "../support/project/project.ts";
import { lineCloud, numbersOf, stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const deps = () => {
  const text: string[] = [];
  const stdout = { write: (part: string) => text.push(part) > 0 };
  return { deps: { stdout, signal: new AbortController().signal } as never, said: () => text.join("") };
};

async function project(): Promise<{ path: string; id: string }> {
  const { session_id } = await lineCloud(made, [1, 2, 3, 4], 2);
  await made.remove(session_id, 1, 1);
  const path = join(made.folder, `cli-${session_id}.proj`);
  await saved(made, path, [session_id]);
  return { path, id: session_id };
}

test("info lists what a project contains, as text and as JSON", async () => {
  const { path, id } = await project();
  const text = deps();
  await showInfo(path, false, text.deps);
  expect(text.said()).toMatch(new RegExp(`cloud ${id}: 6 points from .*\\n  columns: positions, .*class`));
  expect(text.said()).toContain("1 deletions, 0 label strokes");
  const json = deps();
  await showInfo(path, true, json.deps);
  expect(JSON.parse(json.said())).toMatchObject({ version: 2, sessions: [{ key: id, rows: 6, deletions: 1 }] });
  await expect(showInfo(join(made.folder, "missing.proj"), true, deps().deps)).rejects.toThrow(/not found/);
});

test("verify names the first damaged member", async () => {
  const { path, id } = await project();
  const whole = deps();
  await verify(path, whole.deps);
  expect(whole.said()).toMatch(/^\d+ members, no damage\n$/);
  const bytes = readFileSync(path);
  for (const member of [`sessions/${id}/positions.pz`, `sessions/${id}/history/del0.pz`]) {
    const damaged = Buffer.from(bytes);
    const at = damaged.indexOf(member) + member.length + 60;
    damaged[at] = (damaged[at] ?? 0) ^ 4;
    writeFileSync(path, damaged);
    await expect(verify(path, deps().deps)).rejects.toThrow(member);
  }
  writeFileSync(path, bytes);
  await opened(made, path);
});

test("extract of a damaged project leaves nothing, in a folder that was there and in a new one", async () => {
  const { path, id } = await project();
  const bytes = readFileSync(path);
  const at = bytes.indexOf(`sessions/${id}/history/del0.pz`) + 90;
  bytes[at] = (bytes[at] ?? 0) ^ 4;
  writeFileSync(path, bytes);
  const empty = mkdtempSync(join(made.folder, "empty-"));
  await expect(extract(path, empty, deps().deps)).rejects.toThrow(/del0/);
  expect(readdirSync(empty)).toEqual([]);
  const deep = join(made.folder, `new-${id}`, "deep");
  await expect(extract(path, deep, deps().deps)).rejects.toThrow(/del0/);
  expect(existsSync(join(made.folder, `new-${id}`))).toBe(false);
});

test("extract writes the scene as it is and columns as arrays of NumPy", async () => {
  const { path, id } = await project();
  const out = join(made.folder, `out-${id}`);
  await extract(path, out, deps().deps);
  expect(readFileSync(join(out, "scene.bin"))).toEqual(SCENE);
  const npy = readFileSync(join(out, "sessions", id, "positions.npy"));
  const length = 10 + npy.readUInt16LE(8);
  expect([length % 64, npy.toString("latin1", 10, length)]).toEqual([0, expect.stringContaining("'shape': (6, 3)")]);
  const values = new Float64Array(new Uint8Array(npy.subarray(length)).buffer);
  const { columns } = await stateOf(made, id);
  const positions = columns.get("positions");
  expect([...values]).toEqual(positions && numbersOf(positions.native));
  await expect(extract(path, out, deps().deps)).rejects.toThrow(/not empty/);
});
