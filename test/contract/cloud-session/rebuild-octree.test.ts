import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { ColumnRef } from "../../../backend/sessions/column-ref.ts";
import { RebuildOctreeResponse } from "../../../shared/contract/cloud-session/rebuild-octree.ts";
import { create, exported } from "../../support/app/app.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/rebuild_octree`;
const rebuild = async (id: string) => {
  const answer = await made.app.inject({ method: "POST", url: url(id) });
  return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
};
const rebuilt = async (id: string) => {
  const { status, body } = await rebuild(id);
  expect([status, body.detail]).toEqual([200, undefined]);
  return RebuildOctreeResponse.parse(body);
};
/** Marks rows as deleted, as delete_region does. */
async function deleteRows(id: string, deleted: readonly number[]): Promise<void> {
  const session = await made.deps.sessions.get(id);
  const column = new ColumnRef(new addon.Column("u8", Uint8Array.from(deleted)));
  await session.commit(session.state, {
    columns: new Map([["deleted", column]]),
    meta: { octree_cache_id: null, rendered_octree_cache_id: session.state.meta.octree_cache_id, octree_stale_gen: 1 },
  });
  column.release();
}
const ROWS = ["x y z is_miss class", "0 0 0 0 1", "1 0 0 0 2", "0 1 5 0 3", "900 0 0 1 4"];

test("unchanged points give the same octree on every call", async () => {
  const made_ = await create(made, made.file("same.txt", ROWS.join("\n")), { origin: [0, 0, 1] });
  const first = await rebuilt(made_.session_id);
  expect(first).toMatchObject({ session_id: made_.session_id, point_count: 3, total_count: 4, octree_posed: false });
  expect(first.cache_id).toBe(made_.cache_id);
  expect(first.miss_octree_cache_id).toBe(made_.miss_octree_cache_id);
  expect([first.tight_bounds, first.observed_classes]).toEqual([made_.tight_bounds, made_.observed_classes]);
  expect(await rebuilt(made_.session_id)).toEqual(first);
});

test("an evicted octree is rebuilt with the same id", async () => {
  const tail = await create(made, made.file("gone.txt", ROWS.join("\n")));
  rmSync(join(made.octrees, tail.cache_id), { recursive: true });
  expect((await made.app.inject({ url: `/octree/${tail.cache_id}/metadata.json` })).statusCode).toBe(404);
  expect((await rebuilt(tail.session_id)).cache_id).toBe(tail.cache_id);
  expect((await made.app.inject({ url: `/octree/${tail.cache_id}/metadata.json` })).statusCode).toBe(200);
});

test("the octree no longer contains deleted points, which stay pending; the pose is cleared; misses stay", async () => {
  const { session_id, cache_id } = await create(made, made.file("deleted.txt", ROWS.join("\n")));
  await deleteRows(session_id, [0, 1, 0, 0]);
  const session = await made.deps.sessions.get(session_id);
  await session.commit(session.state, { meta: { octree_pose: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] } });
  const answer = await rebuilt(session_id);
  expect(answer).toMatchObject({ point_count: 2, total_count: 4, observed_classes: { class: [1, 3] } });
  expect(answer.cache_id).not.toBe(cache_id);
  expect(octreePoints(made.octrees, answer.cache_id).sort((a, b) => (a[2] ?? 0) - (b[2] ?? 0))).toEqual([
    [0, 0, 0],
    [0, 1, 5],
  ]);
  const { meta, columns } = session.state;
  expect(meta).toMatchObject({
    octree_cache_id: answer.cache_id,
    rendered_octree_cache_id: null,
    octree_pose: null,
    octree_point_count: 3,
  });
  expect(columns.has("deleted")).toBe(true);
  expect((await exported(made, session_id, "xyz")).toString().split("\n")).toHaveLength(3); // two hits and the miss
});

test("an edit during the build takes precedence: the octree is then stale", async () => {
  const { session_id } = await create(made, made.file("race.txt", ROWS.join("\n")));
  await deleteRows(session_id, [1, 0, 0, 0]);
  const cache = made.deps.octreeCache;
  const build = cache.getOrBuild.bind(cache);
  cache.getOrBuild = async (...args) => {
    const result = await build(...args);
    const session = await made.deps.sessions.get(session_id);
    const { octree_stale_gen } = session.state.meta;
    await session.commit(session.state, { meta: { octree_stale_gen: octree_stale_gen + 1 } });
    return result;
  };
  try {
    const answer = await rebuilt(session_id);
    expect(answer).toMatchObject({ octree_stale: true, point_count: 2 });
    const { meta } = (await made.deps.sessions.get(session_id)).state;
    expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, answer.cache_id]);
  } finally {
    cache.getOrBuild = build;
  }
});

test("two concurrent requests for one session both succeed", async () => {
  const { session_id } = await create(made, made.file("two.txt", ROWS.join("\n")));
  await deleteRows(session_id, [0, 0, 1, 0]);
  const answers = await Promise.all([rebuilt(session_id), rebuilt(session_id)]);
  expect(answers[0].cache_id).toBe(answers[1].cache_id);
});

test("an unknown session: 404 with the sentence of the contract", async () => {
  expect(await rebuild("00000000")).toMatchObject({
    status: 404,
    body: { detail: "Cloud session not found: 00000000" },
  });
  expect((await rebuild("../../etc")).status).toBe(404);
});
