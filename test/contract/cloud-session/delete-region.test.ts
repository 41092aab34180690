import { describe, expect, test } from "vitest";
import { DeleteRegionResponse } from "../../../shared/contract/cloud-session/delete-region.ts";
import { appOfTest, type TestApp } from "../../support/app/app.ts";
import { deadCopy, restartWith, untouched } from "../../support/session/dead-session.ts";
import {
  answered,
  cloud,
  columnOf,
  lineCloud,
  lineRows,
  refusal,
  slab,
  stateOf,
  survivingXs,
  UNKNOWN,
} from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ config: { maxDeletedHistory: 3 } });
const url = (id: string) => `/api/cloud/session/${id}/delete_region`;
const remove = (id: string, region: object) => answered(made, DeleteRegionResponse, url(id), { region });
const reset = (id: string, edit_count: number) => made.post(id, "reset_edits", { edit_count });
const steps = async (id: string) => (await stateOf(made, id)).undo.deletes.map(({ count }) => count);

test("hits inside are marked as deleted, misses are not; counts cover all rows", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 2, 2], 2);
  expect(await remove(session_id, slab(1, 2))).toEqual({
    session_id,
    deleted_count: 2,
    remaining_count: 4,
    total_count: 6,
    pending_deleted_count: 2,
    edit_count: 1,
    backfilled_misses_stale: false,
  });
  expect(await columnOf(made, session_id, "deleted")).toEqual([0, 1, 1, 0, 0, 0]);
});

test("every call is one undo step, even an empty one; deleted rows are counted once", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1]);
  await remove(session_id, slab(0, 1));
  await remove(session_id, slab(50, 60));
  expect(await remove(session_id, slab(1, 2))).toMatchObject({ deleted_count: 3, remaining_count: 1 });
  expect(await steps(session_id)).toEqual([2, 0, 1]);
});

test("a deletion of one name is made once, also after a crash, until it is undone or too old", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1]);
  const named = (at: number, edit_id: string) => ({ region: slab(at, at), edit_id });
  const send = (app: TestApp, at: number, edit_id: string) =>
    answered(app, DeleteRegionResponse, url(session_id), named(at, edit_id));
  expect(await send(made, 0, "a")).toMatchObject({ deleted_count: 1, edit_count: 1 });
  expect(await send(made, 0, "a")).toMatchObject({ deleted_count: 1, edit_count: 1 });
  expect(await remove(session_id, slab(0, 0))).toMatchObject({ edit_count: 2 }); // without a name: a step of its own
  expect(await send(made, 1, "b")).toMatchObject({ deleted_count: 2, edit_count: 3 });

  const again = await restartWith(await deadCopy(made, session_id), { [session_id]: untouched });
  const undo = { method: "POST", url: `/api/cloud/session/${session_id}/reset_edits` } as const;
  expect(await send(again, 1, "b")).toMatchObject({ deleted_count: 2, edit_count: 3 });
  await again.app.inject({ ...undo, payload: { edit_count: 2 } });
  expect(await send(again, 1, "b")).toMatchObject({ deleted_count: 2, edit_count: 3 });

  expect(await send(made, 2, "c")).toMatchObject({ deleted_count: 3, edit_count: 3 }); // three are kept
  expect(await send(made, 0, "a")).toMatchObject({ deleted_count: 3, edit_count: 3 }); // made again, deletes nothing
  expect(await steps(session_id)).toEqual([1, 1, 0]);
});

test("a name of a deletion has 1 to 100 characters", async () => {
  const { session_id } = await lineCloud(made, [1]);
  for (const edit_id of ["", "x".repeat(101), 7])
    expect(await refusal(made, url(session_id), { region: slab(0, 0), edit_id })).toMatchObject([
      422,
      [{ loc: ["body", "edit_id"] }],
    ]);
});

test("beyond the limit, the oldest step can no longer be undone", async () => {
  const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1]);
  for (const at of [0, 1, 2, 3]) await remove(session_id, slab(at, at));
  expect(await steps(session_id)).toEqual([1, 1, 1]);
  expect((await stateOf(made, session_id)).undo.base?.count).toBe(1);
  await reset(session_id, 0);
  expect(await survivingXs(made, session_id)).toEqual([1, 2, 3, 4]);
});

test("the octree is stale and stays pinned in the cache, however small the cache is", async () => {
  const { session_id, cache_id } = await lineCloud(made, [5, 6, 7]);
  const before = (await stateOf(made, session_id)).meta;
  await remove(session_id, slab(0, 0));
  const first = (await stateOf(made, session_id)).meta;
  expect([first.octree_cache_id, first.rendered_octree_cache_id]).toEqual([null, cache_id]);
  expect(first.octree_stale_gen).toBe(before.octree_stale_gen + 1);
  await remove(session_id, slab(1, 1)); // the second one finds no current octree to carry over
  const { meta } = await stateOf(made, session_id);
  expect([meta.octree_cache_id, meta.rendered_octree_cache_id]).toEqual([null, cache_id]);
  expect(meta.octree_stale_gen).toBe(before.octree_stale_gen + 2);
  expect(made.deps.sessions.octreeIds()).toContain(cache_id);
});

test("a pose is cleared with its octree", async () => {
  const { session_id, cache_id } = await lineCloud(made, [8, 8]);
  const quarter = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const posed = { matrix: quarter, octree_mode: "pose" };
  await made.post(session_id, "transform", posed);
  expect((await stateOf(made, session_id)).meta.octree_pose).toEqual(quarter);
  await remove(session_id, { kind: "box", min: [-9, -9, -9], max: [9, 0.5, 9] });
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({ octree_cache_id: null, rendered_octree_cache_id: cache_id, octree_pose: null });
});

test("normals become stale only when a neighbour is deleted", async () => {
  const { session_id } = await cloud(made, ["x y z nx ny nz", "0 0 0 0 0 1", "1 0 0 0 0 1"]);
  await remove(session_id, slab(50, 60));
  expect((await stateOf(made, session_id)).meta.normals_stale).toBe(false);
  await remove(session_id, slab(1, 1));
  expect((await stateOf(made, session_id)).meta.normals_stale).toBe(true);
  const { session_id: bare } = await lineCloud(made, [1, 1]);
  await remove(bare, slab(1, 1));
  expect((await stateOf(made, bare)).meta.normals_stale).toBe(false);
});

describe("regions", () => {
  /** Looks down the z axis at x, y in [-10, 10]: pixel = 50 + 5 x, 50 - 5 y. */
  const camera = {
    projection: [0.1, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 1],
    view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    canvas: { width: 100, height: 100 },
  };
  /** A pinhole at the origin that looks along +x: clip.w = x, so that x <= 0 is behind it. */
  const pinhole = {
    projection: [0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    view: [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    canvas: { width: 100, height: 100 },
  };
  const kept = async (region: object) => {
    const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1]);
    await remove(session_id, region);
    return survivingXs(made, session_id);
  };
  const rectangle = (left: number, right: number) => [
    [left, 40],
    [right, 40],
    [right, 60],
    [left, 60],
  ];

  test("a box includes all its faces", async () => {
    expect(await kept({ kind: "box", min: [1, 0, 0], max: [3, 0, 0] })).toEqual([0, 4]);
  });
  test("invert selects the points outside", async () => {
    expect(await kept({ kind: "box", min: [1, 0, 0], max: [3, 0, 0], invert: true })).toEqual([1, 2, 3]);
  });
  test("a polygon cuts through the cloud in the viewing direction", async () => {
    // x = 1, 2 lie at 55 and 60 pixels
    expect(await kept({ kind: "polygon", points: rectangle(52, 62), ...camera })).toEqual([0, 3, 4]);
  });
  test("a square includes its edges", async () => {
    expect(await kept({ kind: "squares_union", centers: [[55, 50]], half_sizes: [5], ...camera })).toEqual([3, 4]);
  });
  test("several squares form one region", async () => {
    const two = {
      kind: "squares_union",
      centers: [
        [50, 50],
        [70, 50],
      ],
      half_sizes: [1, 1],
      ...camera,
    };
    expect(await kept(two)).toEqual([1, 2, 3]);
  });
  test("points behind the camera are outside, or inside if inverted", async () => {
    const rows = ["x y z", "-2 0 0", "0 0 0", "2 0 0"];
    const everything = {
      kind: "polygon",
      points: [
        [-1, -1],
        [101, -1],
        [101, 101],
        [-1, 101],
      ],
      ...pinhole,
    };
    const { session_id } = await cloud(made, rows);
    await remove(session_id, everything);
    expect(await survivingXs(made, session_id)).toEqual([-2, 0]);
    const { session_id: other } = await cloud(made, rows);
    await remove(other, { ...everything, invert: true });
    expect(await survivingXs(made, other)).toEqual([2]);
  });
});

describe("rejected requests", () => {
  const shared = made.shared(lineRows([1, 2]));
  const camera = { projection: Array(16).fill(1), view: Array(16).fill(1), canvas: { width: 10, height: 10 } };
  const polygon = {
    kind: "polygon",
    points: [
      [0, 0],
      [1, 0],
      [1, 1],
    ],
    ...camera,
  };
  const squares = { kind: "squares_union", centers: [[0, 0]], half_sizes: [1], ...camera };

  test.each([
    [undefined, "region is missing: give an object with kind box, polygon or squares_union"],
    [{}, "region.kind must be box, polygon or squares_union, not nothing"],
    [{ kind: "sphere" }, 'region.kind must be box, polygon or squares_union, not "sphere"'],
    [{ ...slab(0, 1), invert: "yes" }, 'region.invert must be true or false, not "yes"'],
    [{ kind: "box", max: [1, 1, 1] }, "region.min must be three finite numbers"],
    [{ kind: "box", min: [0, 0, 0], max: [1, 1] }, "region.max must be three finite numbers"],
    [{ kind: "box", min: [0, 0, 0], max: [1, null, 1] }, "region.max must be three finite numbers"],
    [
      { kind: "box", min: [0, 2, 0], max: [1, 1, 1] },
      "region.min is above region.max in y (2 > 1): give the lower corner first",
    ],
    [
      {
        ...polygon,
        points: [
          [0, 0],
          [1, 0],
        ],
      },
      "region.points must be at least 3 pairs [x, y] of finite numbers",
    ],
    [{ ...polygon, points: [[0, 0], [1, 0], [1]] }, "region.points must be at least 3 pairs [x, y] of finite numbers"],
    [{ ...squares, centers: [] }, "region.centers must be at least 1 pairs [x, y] of finite numbers"],
    [{ ...squares, half_sizes: [1, 2] }, "region.half_sizes must be 1 numbers above 0, one per center"],
    [{ ...squares, half_sizes: [0] }, "region.half_sizes must be 1 numbers above 0, one per center"],
    [{ ...polygon, projection: [1, 2] }, "region.projection must be 16 finite numbers, column by column"],
    [{ ...squares, view: undefined }, "region.view must be 16 finite numbers, column by column"],
    [{ ...polygon, canvas: { width: 0, height: 10 } }, "region.canvas must be {width, height} with numbers above 0"],
    [{ ...polygon, canvas: null }, "region.canvas must be {width, height} with numbers above 0"],
  ])("%j", async (region, sentence) => {
    expect(await refusal(made, url(shared.session_id), { region })).toEqual([400, sentence]);
    expect((await stateOf(made, shared.session_id)).undo.deletes).toEqual([]); // nothing happened
  });

  test("an unknown session is rejected", async () => {
    expect(await refusal(made, url("00000000"), { region: slab(0, 1) })).toEqual(UNKNOWN);
  });
});

test("a cache without room keeps the octrees of open sessions", async () => {
  const small = await appOfTest({ octreeCacheMaxBytes: 1 });
  const { session_id, cache_id } = await lineCloud(small, [1, 2, 3]);
  const { session_id: gone, cache_id: unused } = await lineCloud(small, [4, 5, 6, 7]);
  await answered(small, DeleteRegionResponse, url(session_id), { region: slab(0, 0) });
  await small.app.inject({ method: "DELETE", url: `/api/cloud/session/${gone}` });
  await small.deps.octreeCache.evict();
  const found = async (id: string) => (await small.deps.octreeCache.path(id)) !== undefined;
  expect([await found(cache_id), await found(unused)]).toEqual([true, false]);
});
