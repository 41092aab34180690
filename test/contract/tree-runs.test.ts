import { expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { extraKey } from "../../backend/sessions/column-names.ts";
import { DetectStemsResponse } from "../../shared/contract/cloud-session/detect-stems.ts";
import { TreesResponse } from "../../shared/contract/segment-trees.ts";
import { appOfTest, refused } from "../support/app/app.ts";
import { heldUntilCanceled } from "../support/native/native-failure.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { STEM_COLUMNS, stemRows } from "../support/scans/stems.ts";
import { orchard } from "../support/scans/tree-cloud.ts";
import { answered, cloud, columnOf, refusal, stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

// Runs of segment_trees and detect_stems that are asked about, admitted, canceled or fail.

const URL = "/api/segment/trees";
const made = sessionTest();
const segment = (payload: object) => answered(made, TreesResponse, URL, payload);
const { points, trees, ground_class, count } = orchard(4);
const CHM = { method: "chm" };
const AUTO = { method: "auto" };

test("a large extent: coarser cells and a warning; a cell that is given is refused", async () => {
  const cost = vi.spyOn(addon, "canopyCrownsCost").mockImplementation((_points, _extent, cell) => {
    return { cells: 4e7, bytes: 1e6, admissible: cell >= 0.39, finest_cell_m: 0.3899 };
  });
  const answer = await segment({ points, ground_class, ...CHM });
  expect([answer.success, answer.chm?.cell]).toEqual([true, 0.39]);
  expect(answer.warnings).toEqual([
    expect.stringContaining("cells of 0.39 m instead of 0.212 m, because the points extend over"),
  ]);
  const given = await segment({ points, chm_cell: 0.2, ...CHM });
  cost.mockRestore();
  expect([given.success, given.code]).toEqual([false, "invalid_argument"]);
  expect(given.error).toMatch(/^chm_cell 0\.2 m makes too many cells for 1\d\.\d x 1\d\.\d m; 0\.39 m is the finest/);
  const stray = await segment({ points: [...points, [1e7, 1e7, 3]], ...CHM });
  expect(stray.error).toContain("Remove stray points");
});

test("points that are farther apart than the cells: wider cells and a warning", async () => {
  const sparse = points.filter((_, i) => i % 9 === 0);
  const answer = await segment({ points: sparse, ground_class: ground_class.filter((_, i) => i % 9 === 0), ...CHM });
  expect(answer.chm?.cell).toBeGreaterThan(0.4);
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(/cells of 0\.\d\d m instead of 0\.21 m .*, because the points are \d\.\d\d m apart/),
  );
  const given = await segment({ points: sparse, chm_cell: 0.2, ...CHM });
  expect(given.warnings.join()).not.toContain("instead of");
});

test("crowns that touch are told, since trees hide under others", async () => {
  const canopy = Array.from({ length: 90 * 90 }, (_, i) => {
    const [x, y] = [0.2 * (i % 90), 0.2 * Math.floor(i / 90)];
    const from = Math.hypot((x % 3) - 1.5, (y % 3) - 1.5);
    return [x, y, 14 - from * from];
  });
  const answer = await segment({ points: canopy, ...CHM });
  expect(answer.num_trees).toBe(36);
  expect(answer.warnings).toContainEqual(
    expect.stringMatching(/^Crowns touch along 56 % of their outlines: method chm .*, and those under others/),
  );
  expect((await segment({ points, ground_class, ...CHM })).warnings).toEqual([]);
});

test("tops that hardly rise above those beside them are told, since they may be limbs", async () => {
  const broad = Array.from({ length: 150 * 100 }, (_, i) => {
    const [x, y] = [0.2 * (i % 150), 0.2 * Math.floor(i / 150)];
    const from = Math.hypot((x % 10) - 5, (y % 10) - 5) / 4;
    return from < 1 ? [x, y, 10 - 0.8 * from * from + 0.25 * Math.cos(3 * x) * Math.cos(3 * y)] : [x, y, 0];
  });
  const classes = broad.map(([, , z = 0]) => (z > 0 ? 2 : 1));
  const answer = await segment({ points: broad, ground_class: classes, ...CHM });
  const told = answer.warnings.find((text) => text.includes("a limb of a broad crown"));
  const [, tops, shallow, rest] =
    /^Of (\d+) treetops (\d+) rise less than 5 % .* there are (\d+)\. /.exec(told ?? "") ?? [];
  expect([Number(tops), Number(rest)]).toEqual([answer.num_trees, 6]);
  expect(Number(shallow)).toBe(answer.num_trees - 6);
  const wide = await segment({ points: broad, ground_class: classes, chm_crown_scale: 16, ...CHM });
  expect([wide.num_trees, wide.warnings.join()]).toEqual([6, expect.not.stringContaining("limb")]);
  const seeded = await segment({ points: broad, ground_class: classes, seed_points: [[5, 5, 0]], ...CHM });
  expect(seeded.warnings.join()).not.toContain("limb");
});

test("an internal failure is reported in `error`", async () => {
  const spy = vi.spyOn(addon, "canopyCrowns").mockImplementation(() => {
    throw Object.assign(new Error("no memory left"), { code: "out_of_memory" });
  });
  expect(await segment({ points, ...CHM })).toMatchObject({
    success: false,
    labels: [],
    num_points: 0,
    num_trees: 0,
    params: {},
    chm: null,
    error: "no memory left",
    code: "out_of_memory",
  });
  spy.mockRestore();
});

test("many nodes or little memory: a cost warning first, and the run once it is acknowledged", async () => {
  const small = await appOfTest({ treeMaxNodes: 500 });
  const spy = vi.spyOn(addon, "cutPursuitTrees");
  const asked = await answered(small, TreesResponse, URL, { points, ground_class });
  expect([asked.success, asked.error, asked.labels, spy.mock.calls.length]).toEqual([false, null, [], 0]);
  const nodes = asked.cost_warning?.nodes ?? 0;
  expect(nodes).toBeGreaterThan(5000);
  expect(asked.cost_warning).toMatchObject({ node_guideline: 500, decimate_res1: 0.05, over_memory: false });
  expect(asked.cost_warning?.points).toBe(trees.filter((tree) => tree > 0).length);
  expect(asked.cost_warning?.message).toBe(
    "Tree segmentation has 0.0 M graph nodes (guideline 0.0 M) and may take up to 1 min. Send the request again with acknowledge_cost to run it.",
  );
  const done = await answered(small, TreesResponse, URL, { points, ground_class, acknowledge_cost: true });
  expect([done.success, done.num_trees, spy.mock.calls.length]).toEqual([true, count, 1]);
  spy.mockRestore();
  const wide = await answered(small, TreesResponse, URL, { points, ground_class, min_nn1: 1000 });
  expect(wide.cost_warning?.estimated_seconds).toBeGreaterThan(
    100 * (asked.cost_warning?.estimated_seconds ?? Infinity),
  );
  const poor = await appOfTest({ memoryBudgetBytes: 1_000_000 });
  const memory = await answered(poor, TreesResponse, URL, { points, ground_class });
  expect(memory.cost_warning).toMatchObject({ over_memory: true, nodes });
  expect((await answered(poor, TreesResponse, URL, { points, ground_class, ...CHM })).success).toBe(true);
});

test("a long run is asked about before the ground is found, which needs admitted memory", async () => {
  const slow = await appOfTest({ costWarningS: 1e-3 });
  const spy = vi.spyOn(addon, "groundAuto");
  const asked = await answered(slow, TreesResponse, URL, { points, ...AUTO });
  expect([asked.success, asked.error, asked.cost_warning?.over_time, spy.mock.calls.length]).toEqual([
    false,
    null,
    true,
    0,
  ]);
  const admitted = vi.spyOn(slow.deps.admission, "run");
  const done = await answered(slow, TreesResponse, URL, { points, acknowledge_cost: true, ...AUTO });
  expect([done.num_trees, spy.mock.calls.length]).toEqual([count, 1]);
  spy.mockRestore();
  const bytes = admitted.mock.calls.map(([, , needed]) => needed);
  expect(bytes).toHaveLength(2);
  for (const needed of bytes) expect(needed).toBeGreaterThan(100 * points.length);
});

test.each([
  ["treePoints", "chm"],
  ["canopyCrowns", "chm"],
  ["treeDecimation", "default"],
  ["cutPursuitTrees", "default"],
  ["fusionWarning", "default"],
  ["groundAuto", "auto"],
  ["terrainRaster", "auto"],
  ["heightAboveGround", "auto"],
  ["pathTrees", "auto"],
] as const)("canceled in %s: 499, and nothing is kept", async (op, method) => {
  const before = addon.bulkBytesInUse();
  let reached = false;
  const cancel = () => {
    reached = true;
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled(op, cancel, () => refused(made, URL, { points, method }));
  expect(reached).toBe(true);
  expect(value).toEqual({ status: 499, detail: "Tree segmentation was canceled.", code: "canceled" });
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test.each([
  ["treePoints", "chm"],
  ["canopyCrowns", "chm"],
  ["treeDecimation", "default"],
  ["cutPursuitTrees", "default"],
  ["fusionWarning", "default"],
  ["octreeBuild", "chm"],
] as const)("a session, canceled in %s: 499, no leftovers", async (op, method) => {
  const { points: large, ground_class: classes } = orchard(op === "octreeBuild" ? 5 : 4); // an octree not in the cache
  const rows = large.map((p, i) => `${p.join(" ")} ${classes[i]}`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  const bytes = addon.bulkBytesInUse(); // some of an earlier test may still be leaving
  const { version } = await stateOf(made, session_id);
  let reached = false;
  const cancel = () => {
    reached = true;
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled(op, cancel, () =>
    refusal(made, `/api/cloud/session/${session_id}/segment_trees`, { method }),
  );
  expect([reached, value]).toEqual([true, [499, "Tree segmentation was canceled."]]);
  expect(await columnOf(made, session_id, extraKey("tree_instance"))).toBeUndefined();
  await eventually(() => expect(addon.bulkBytesInUse()).toBeLessThanOrEqual(bytes));
  expect((await stateOf(made, session_id)).version).toBe(version);
});

const STEMS = stemRows([{ x: 2, y: 2, radius: 0.2 }]);
const plot = () => cloud(made, [STEM_COLUMNS, ...STEMS]);
const stemsUrl = (id: string) => `/api/cloud/session/${id}/detect_stems`;

test("stem detection, canceled: 499, no leftovers", async () => {
  const { session_id } = await plot();
  const before = addon.bulkBytesInUse();
  const cancel = () => {
    setImmediate(() => made.deps.jobs.cancelAll()); // once the run knows the op
  };
  const value = await heldUntilCanceled("detectStems", cancel, () => refusal(made, stemsUrl(session_id), {}));
  expect(value).toEqual([499, "Stem detection was canceled."]);
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
});

test("the memory of stem detection is admitted", async () => {
  const { session_id } = await plot();
  const spy = vi.spyOn(made.deps.admission, "run");
  await answered(made, DetectStemsResponse, stemsUrl(session_id), {});
  const [, tool, bytes] = spy.mock.calls[0] ?? [];
  spy.mockRestore();
  expect(tool).toBe("Stem detection");
  expect(bytes).toBeGreaterThan(STEMS.length * 100);
  expect(bytes).toBeLessThan(STEMS.length * 250);
});
