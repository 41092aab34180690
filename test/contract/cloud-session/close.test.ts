import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { CloseSessionResponse } from "../../../shared/contract/cloud-session/close.ts";
import { create } from "../../support/app/app.ts";
import { bigLasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const close = async (id: string) => {
  const answer = await made.app.inject({ method: "DELETE", url: `/api/cloud/session/${id}` });
  expect(answer.statusCode).toBe(200);
  return CloseSessionResponse.parse(answer.json());
};

test("DELETE frees the arrays and the folder, its octree, and returns false the second time", async () => {
  const before = addon.bulkBytesInUse();
  const { session_id, cache_id } = await create(made, made.file("big.las", bigLasBytes(50_000)));
  const folder = join(made.sessions, session_id);
  expect(existsSync(folder)).toBe(true);
  expect(await close(session_id)).toEqual({ session_id, deleted: true });
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(made.sessions)).toEqual([]);
  expect(addon.bulkBytesInUse()).toBe(before);
  expect(existsSync(join(made.octrees, cache_id))).toBe(false);
  expect(await close(session_id)).toEqual({ session_id, deleted: false });
  const rebuild = await made.post(session_id, "rebuild_octree");
  expect(rebuild.statusCode).toBe(404);
});

test("an octree that another session shows stays until that one is closed too", async () => {
  const scan = made.file("shared.xyz", "1 2 3\n4 5 6\n");
  const [first, copy] = [await create(made, scan), await create(made, scan)];
  expect(copy.cache_id).toBe(first.cache_id);
  const shown = () => existsSync(join(made.octrees, first.cache_id, "metadata.json"));
  await close(first.session_id);
  expect(shown()).toBe(true);
  await close(copy.session_id);
  expect(shown()).toBe(false);
});

test("any text is accepted as id: unknown ids return false, not an error", async () => {
  for (const id of ["00000000", "..%2F..%2Fetc", "%00", "x".repeat(250)]) expect((await close(id)).deleted).toBe(false);
});

test("of two concurrent requests, one frees the session", async () => {
  const { session_id } = await create(made, made.file("one.xyz", "1 2 3\n"));
  const answers = await Promise.all([close(session_id), close(session_id), close(session_id)]);
  expect(answers.map(({ deleted }) => deleted).sort()).toEqual([false, false, true]);
});

test("columns are kept until a read in progress ends, then freed", async () => {
  const { session_id } = await create(made, made.file("read.xyz", "1 2 3\n4 5 6\n"));
  const session = await made.deps.sessions.get(session_id);
  const seen = await session.read(null, async (state) => {
    expect((await close(session_id)).deleted).toBe(true);
    const bytes = new Uint8Array(48);
    state.columns.get("positions")?.native.readInto(bytes, 0);
    return Array.from(new Float64Array(bytes.buffer));
  });
  expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
});

test("closing succeeds if the folder was already removed", async () => {
  const { session_id } = await create(made, made.file("gone.xyz", "1 2 3\n"));
  rmSync(join(made.sessions, session_id), { recursive: true });
  expect((await close(session_id)).deleted).toBe(true);
  expect(made.log.filter(({ level }) => level >= 50)).toEqual([]);
});
