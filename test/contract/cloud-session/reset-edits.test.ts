import { expect, test } from "vitest";
import { ResetEditsResponse } from "../../../shared/contract/cloud-session/reset-edits.ts";
import {
  answered,
  cloud,
  lineCloud,
  refusal,
  slab,
  stateOf,
  survivingXs,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const url = (id: string) => `/api/cloud/session/${id}/reset_edits`;
const reset = (id: string, body: object) => answered(made, ResetEditsResponse, url(id), body);
/** Five hits and a miss; x = 0, then 1, then 2 deleted. */
async function threeSteps() {
  const tail = await lineCloud(made, [1, 1, 1, 1, 1], 1);
  for (const at of [0, 1, 2]) await post(tail.session_id, "delete_region", { region: slab(at, at) });
  return tail;
}

test("the newest steps are undone, the oldest edit_count steps are kept", async () => {
  const { session_id } = await threeSteps();
  expect(await reset(session_id, { edit_count: 2 })).toEqual({
    session_id,
    deleted_count: 2,
    remaining_count: 4,
    total_count: 6,
    pending_deleted_count: 2,
  });
  expect(await survivingXs(made, session_id)).toEqual([2, 3, 4, 0]); // the last one is the miss
  await reset(session_id, { edit_count: 1 });
  expect(await survivingXs(made, session_id)).toEqual([1, 2, 3, 4, 0]);
});

test.each([
  [{}, 0],
  [{ edit_count: null }, 0],
  [{ edit_count: 0 }, 0],
  [{ edit_count: -7 }, 0],
  [{ edit_count: 3 }, 3],
  [{ edit_count: 99 }, 3],
])("%j keeps %i steps", async (body, kept) => {
  const { session_id } = await threeSteps();
  expect((await reset(session_id, body)).deleted_count).toBe(kept);
  expect((await stateOf(made, session_id)).undo.deletes).toHaveLength(kept);
});

test("a row inside two deletions is restored when the first of them is undone", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await post(session_id, "delete_region", { region: slab(0, 1) });
  await post(session_id, "delete_region", { region: slab(1, 2) });
  await reset(session_id, { edit_count: 1 });
  expect(await survivingXs(made, session_id)).toEqual([2]);
  await reset(session_id, { edit_count: 0 });
  expect(await survivingXs(made, session_id)).toEqual([0, 1, 2]);
  expect((await stateOf(made, session_id)).columns.has("deleted")).toBe(false);
});

test("the octree and normals are stale again, the pose is cleared", async () => {
  const rows = ["x y z nx ny nz", "0 0 0 0 0 1", "1 0 0 0 0 1"];
  const { session_id } = await cloud(made, rows);
  await post(session_id, "delete_region", { region: slab(0, 0) });
  await post(session_id, "rebuild_octree");
  const before = (await stateOf(made, session_id)).meta;
  expect(before.octree_cache_id).not.toBeNull();
  await reset(session_id, { edit_count: 0 });
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({
    octree_cache_id: null,
    rendered_octree_cache_id: before.octree_cache_id,
    octree_pose: null,
    octree_stale_gen: before.octree_stale_gen + 1,
    normals_stale: true,
  });
});

test("restored points that the octree never contained are not pending deletions", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1]);
  await post(session_id, "delete_region", { region: slab(0, 1) });
  await post(session_id, "rebuild_octree"); // shows one point
  expect((await reset(session_id, { edit_count: 0 })).pending_deleted_count).toBe(0);
});

test("a reset does not undo edits before a filter, split, bake or transform", async () => {
  for (const [action, body] of [
    ["filter", { region: slab(0, 3) }],
    ["split", { region: slab(0, 3) }],
    ["bake?compact=false", {}],
    ["transform", { matrix: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5, 0, 0, 0, 1] }],
  ] as const) {
    const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1]);
    await post(session_id, "delete_region", { region: slab(4, 4) });
    expect((await post(session_id, action, body)).statusCode).toBe(200);
    const after = await reset(session_id, { edit_count: 0 });
    expect([action, after.deleted_count]).toEqual([action, 1]);
    expect([action, (await stateOf(made, session_id)).undo.deletes.length]).toEqual([action, 0]);
  }
});

test("rejected requests", async () => {
  expect(await refusal(made, url("00000000"), { edit_count: 1 })).toEqual(UNKNOWN);
  const { session_id } = await lineCloud(made, [1]);
  expect((await refusal(made, url(session_id), { edit_count: 1.5 }))[0]).toBe(422);
  expect((await refusal(made, url(session_id), { edit_count: "2" }))[0]).toBe(422);
});
