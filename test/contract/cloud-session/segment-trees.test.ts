import { expect, test } from "vitest";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import { SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { CostRefusal } from "../../../shared/contract/cost-warning.ts";
import { appOfTest, refused } from "../../support/app/app.ts";
import { rowsOf } from "../../support/scans/noisy-cloud.ts";
import { orchard, samePartition } from "../../support/scans/tree-cloud.ts";
import { amid, answered, cloud, columnOf, refusal, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;
const PLOT = orchard(3);
const { points, trees, ground_class, stems, count } = PLOT;
const url = (id: string) => `/api/cloud/session/${id}/segment_trees`;
const segment = (id: string, payload: object = {}) =>
  answered(made, SessionTreesResponse, url(id), { method: "chm", ...payload });
const plain = () => cloud(made, ["x y z", ...rowsOf(points)]);
const classified = (shift = [0, 0, 0]) => {
  const rows = points.map((p, i) => [...p.map((v, axis) => v + (shift[axis] ?? 0)), ground_class[i] ?? 0]);
  return cloud(made, ["x y z ground_class", ...rows.map((row) => row.join(" "))]);
};
const treesOf = (id: string) => columnOf(made, id, extraKey("tree_instance"));
const CROWN = { kind: "box", min: [0, 0, 1.9], max: [4, 4, 99] };

test("labels vegetation: misses, deleted rows and ground 0, and the octree shows the column", async () => {
  const rows = points.map((p, i) => `${p.join(" ")} ${ground_class[i]} 0`);
  const { session_id } = await cloud(made, ["x y z ground_class is_miss", "0 0 900 2 1", ...rows]);
  await post(session_id, "delete_region", { region: CROWN });
  const answer = await segment(session_id);
  const gone = trees.map((tree, i) => tree === 1 && (points[i]?.[2] ?? 0) > 1.9);
  expect(answer).toMatchObject({
    session_id,
    analyzed_points: trees.filter((tree, i) => tree > 0 && !gone[i]).length,
    num_trees: count - 1, // what is left of the first is lower than 2 m
    method: "chm",
    ground_warning: false,
    chm: { ground_source: "ground_class" },
    warnings: [],
  });
  const column = (await stateOf(made, session_id)).columns.get(extraKey("tree_instance"));
  expect(column?.native.dtype).toBe("u32");
  const expected = trees.map((tree) => Math.max(0, tree - 1));
  expect(samePartition((await treesOf(session_id)) ?? [], [0, ...expected])).toBe(true);
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({
    octree_cache_id: (answer as { cache_id: string }).cache_id,
    rendered_octree_cache_id: null,
    octree_lacks_labels: false,
  });
  expect(meta.extra_dims_meta).toContainEqual({ slug: "tree_instance", label: "Tree instance" });
});

test("defer_octree: the column exists, the octree is stale", async () => {
  const { session_id, cache_id } = await classified();
  const answer = await segment(session_id, { defer_octree: true });
  expect(answer).toMatchObject({ octree_deferred: true, num_trees: count });
  expect(answer).not.toHaveProperty("cache_id");
  const { meta } = await stateOf(made, session_id);
  expect(meta).toMatchObject({ octree_cache_id: null, rendered_octree_cache_id: cache_id });
  expect(samePartition((await treesOf(session_id)) ?? [], trees)).toBe(true);
});

test("no ground_class column: a warning flag", async () => {
  const { session_id } = await plain();
  const answer = await segment(session_id, { defer_octree: true });
  expect(answer).toMatchObject({ ground_warning: true, chm: { ground_source: "lowest_return" }, num_trees: count });
});

test("hits without a ground class beside others with one are named", async () => {
  const rows = points.map((p, i) => `${p.join(" ")} ${i < 5 ? 0 : (ground_class[i] ?? 0)}`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  expect((await segment(session_id, { defer_octree: true })).warnings).toEqual([
    expect.stringMatching(/^5 points have no ground class.*taken for plants/),
  ]);
});

test("default: untiled, and its tiling block", async () => {
  const { session_id } = await classified();
  const answer = await segment(session_id, { method: "default" });
  expect(answer).toMatchObject({
    method: "default",
    num_trees: count,
    chm: null,
    tiling: { tiled: false, stage1_collapsed: false },
    params: { decimate_res1: 0.05 },
  });
  expect(samePartition((await treesOf(session_id)) ?? [], trees)).toBe(true);
});

test("tiles: on, auto above the number of nodes after asking, off; the labels are the same", async () => {
  const small = await appOfTest({ treeMaxNodes: 1000, treeTileNodes: 1000 });
  const rows = points.map((p, i) => `${p.join(" ")} ${ground_class[i]}`);
  const { session_id } = await cloud(small, ["x y z ground_class", ...rows]);
  const run = (payload: object) =>
    answered(small, SessionTreesResponse, url(session_id), { tile_buffer_m: 3, defer_octree: true, ...payload });
  const answer = await refused(small, url(session_id), { tile_buffer_m: 3 });
  expect([answer.status, answer.code]).toEqual([409, "conflict"]);
  const { detail } = CostRefusal.parse(answer);
  expect(detail.message).toMatch(/ in about \d tiles\. Send the request again with acknowledge_cost to run it\.$/);
  expect(detail.cost_warning).toMatchObject({ node_guideline: 1000, decimate_res1: 0.05 });
  expect(await columnOf(small, session_id, extraKey("tree_instance"))).toBeUndefined();
  const tiled = await run({ acknowledge_cost: true });
  expect(tiled.tiling).toMatchObject({
    tiled: true,
    buffer_m: 3,
    trees_kept: count,
    trees_truncated: 0,
    workers: 1,
    decimate_res1: 0.05,
    decimate_res2: 0.1,
    n: trees.filter((tree) => tree > 0).length,
  });
  expect(tiled.tiling?.tiled && tiled.tiling.tiles_run).toBeGreaterThan(3);
  const labels = () => columnOf(small, session_id, extraKey("tree_instance"));
  expect(samePartition((await labels()) ?? [], trees)).toBe(true);
  const whole = await run({ acknowledge_cost: true, tiling: "off" });
  expect(whole.tiling).toEqual({ tiled: false, stage1_collapsed: false });
  expect(samePartition((await labels()) ?? [], trees)).toBe(true);
  const seed_points = [stems[4], stems[0]];
  const seeded = await run({ acknowledge_cost: true, seed_points });
  expect(seeded.num_trees).toBe(2);
  const cut = await run({ acknowledge_cost: true, tile_buffer_m: 0.4 });
  const truncated = cut.tiling?.tiled ? cut.tiling.trees_truncated : 0;
  expect(truncated).toBeGreaterThan(0);
  expect(cut.warnings).toContain(
    `${truncated} trees may have been cut at the edge of a tile; repeat with a tile_buffer_m above 0.4 m.`,
  );
  expect((await run({ method: "chm", tiling: "on" })).warnings).toEqual([
    'The request has keys that mean nothing here and were ignored: "tile_buffer_m".',
    "Method chm does not use tiling.",
  ]);
});

test("auto: at once and in tiles", async () => {
  const small = await appOfTest({ treeTileNodes: 1000 });
  const rows = points.map((p, i) => `${p.join(" ")} ${ground_class[i]}`);
  const { session_id } = await cloud(small, ["x y z ground_class", ...rows]);
  for (const tiling of ["auto", "on"]) {
    const request = { method: "auto", tiling, tile_buffer_m: 3, defer_octree: true };
    const answer = await answered(small, SessionTreesResponse, url(session_id), request);
    expect(answer).toMatchObject({ method: "auto", num_trees: count, ground_warning: false, chm: null });
    expect(answer.tiling?.tiled).toBe(tiling === "on");
    if (answer.tiling?.tiled) expect(answer.tiling).toMatchObject({ trees_truncated: 0, decimate_res1: 0.03 });
    expect(samePartition((await columnOf(small, session_id, extraKey("tree_instance"))) ?? [], trees)).toBe(true);
  }
});

test("auto: crowns without stems are named, at once and in tiles", async () => {
  const small = await appOfTest({ treeTileNodes: 100 });
  const rows = points.flatMap((p, i) => (trees[i] === 0 || i % 10 === 1 ? `${p.join(" ")} ${ground_class[i]}` : []));
  const { session_id } = await cloud(small, ["x y z ground_class", ...rows]);
  for (const tiling of ["off", "on"]) {
    const request = { method: "auto", tiling, tile_buffer_m: 3, defer_octree: true };
    const { warnings } = await answered(small, SessionTreesResponse, url(session_id), request);
    expect(warnings.join()).toMatch(/Too few stems were seen for method auto: .*, 0\.0 % belong to trees with a stem/);
  }
});

test("limits: points at once and tile by tile", async () => {
  const few = await appOfTest({ treeMaxPoints: 1000, treeMaxPointsTiled: 5000 });
  const { session_id } = await cloud(few, ["x y z", ...rowsOf(points)]);
  const limit = async (payload: object) => (await refusal(few, url(session_id), payload))[1];
  expect(await limit({ method: "chm" })).toContain("at most 1000 points that are not ground, but there are");
  expect(await limit({ tiling: "off" })).toMatch(/at most 1000 points .* set APP_TREE_MAX_POINTS$/);
  expect(points.length).toBeLessThan(5000);
  const tiled = await answered(few, SessionTreesResponse, url(session_id), { defer_octree: true, tile_buffer_m: 3 });
  expect(tiled.tiling?.tiled).toBe(true); // more points than at once
  const fewer = await appOfTest({ treeMaxPoints: 100, treeMaxPointsTiled: 1000 });
  const { session_id: again } = await cloud(fewer, ["x y z", ...rowsOf(points)]);
  expect((await refusal(fewer, url(again), {}))[1]).toMatch(/at most 1000 points .* set APP_TREE_MAX_POINTS_TILED$/);
});

test("seeds are in the stored frame", async () => {
  const { session_id } = await classified([4e5, 5e6, 200]);
  const shift = (await stateOf(made, session_id)).meta.world_shift ?? [0, 0, 0];
  const offset = [4e5, 5e6, 200].map((value, axis) => value - (shift[axis] ?? 0));
  const seed_points = [stems[5]?.map((value, axis) => value + (offset[axis] ?? 0))];
  expect((await segment(session_id, { seed_points, defer_octree: true })).num_trees).toBe(count);
  const found = (await treesOf(session_id)) ?? [];
  expect(new Set(found.filter((_, i) => trees[i] === 6))).toEqual(new Set([1]));
});

test("a second run replaces the column and discards its strokes; the column survives a spill", async () => {
  const { session_id } = await classified();
  await segment(session_id, { chm_crown_scale: 40, defer_octree: true });
  const strokes = [{ stroke_id: "a", region: CROWN, to_class: 77 }];
  await post(session_id, "label_region", { slug: "tree_instance", strokes });
  expect((await stateOf(made, session_id)).undo.labels.size).toBe(1);
  await segment(session_id);
  expect(samePartition((await treesOf(session_id)) ?? [], trees)).toBe(true);
  expect((await stateOf(made, session_id)).undo.labels.size).toBe(0);
  await made.deps.sessions.spill(await made.deps.sessions.get(session_id));
  expect(samePartition((await treesOf(session_id)) ?? [], trees)).toBe(true);
  expect((await post(session_id, "extract_by_column", { slug: "tree_instance" })).statusCode).toBe(200);
});

test("rejected requests", async () => {
  const request = { method: "chm" };
  expect(await refusal(made, url("00000000"), request)).toEqual(UNKNOWN);
  const { session_id } = await cloud(made, ["x y z ground_class", ...points.map((p) => `${p.join(" ")} 1`)]);
  expect(await refusal(made, url(session_id), request)).toEqual([
    400,
    "Need at least 10 points that are not ground for tree segmentation, but there are 0",
  ]);
  expect(await refusal(made, url(session_id), { ...request, chm_cell: -1 })).toEqual([
    400,
    "chm_cell must be a number above 0, not -1",
  ]);
  expect(await refusal(made, url(session_id), { tile_buffer_m: 0 })).toEqual([
    400,
    "tile_buffer_m must be a number above 0, not 0",
  ]);
});

test("an edit during the run takes precedence: 409, nothing is written", async () => {
  const { session_id } = await classified();
  const edit = async () => void (await post(session_id, "delete_region", { region: CROWN }));
  const value = await amid("treePoints", edit, () => refusal(made, url(session_id), { method: "chm" }));
  expect(value).toEqual([409, "the cloud changed while this operation ran; run it again"]);
  expect(await treesOf(session_id)).toBeUndefined();
});
