import { describe, expect, test } from "vitest";
import { addon } from "../../../backend/native/core/addon.ts";
import { TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { run } from "../../support/app/app.ts";
import { forkedTree } from "../../support/qsm/stems.ts";
import { swayingTree } from "../../support/qsm/swaying-tree.ts";
import { FOUR_TREES, forestTwice } from "../../support/scans/forest.ts";
import { canceledAmid, checked, cloud, failed, streamed, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const url = (id: string) => `/api/cloud/session/${id}/tree_qsm`;
const models = (id: string, payload: object = {}) => tail(made, TreeQsmTail, url(id), payload);
const refused = async (id: string, payload: object = {}) =>
  checked(TreeQsmTail, (await failed(made, url(id), payload)).tail);

/** Two trees and one of 20 points; every fourth point of the trees is a leaf far out if there are labels. */
function stand(labels: boolean): string[] {
  const out = [labels ? "x y z tree_instance wood_class" : "x y z tree_instance"];
  const put = (point: readonly number[], id: number, wood: number) =>
    out.push([...point, id, ...(labels ? [wood] : [])].join(" "));
  for (const [id, x] of [
    [7, 0],
    [3, 10],
  ] as const) {
    for (const [i, point] of forkedTree([x, 0, 0]).entries()) {
      put(point, id, 1);
      if (labels && i % 4 === 0) put([point[0] + 3, point[1] + 2, point[2]], id, 2);
    }
  }
  for (let i = 0; i < 20; i += 1) put([20, 0, i / 10], 5, 1);
  for (let i = 0; i < 100; i += 1) put([i / 10, 4, 0], 0, 1);
  return out;
}

test("a model per tree in the world frame; a tree that fails is one of the results", async () => {
  const { session_id } = await cloud(made, stand(true));
  const { tail: list, stages } = await streamed(made, TreeQsmTail, url(session_id));
  expect([list.success, list.error, list.warnings]).toEqual([true, null, []]);
  expect(list.results.map(({ tree_id, success }) => [tree_id, success])).toEqual([
    [3, true],
    [5, false],
    [7, true],
  ]);
  const [tree, small] = list.results;
  expect(tree).toMatchObject({ points_in_tree: 10_000, points_used: 10_000, voxel_m: null, wood_only: true });
  expect(tree?.n_cylinders).toBe(tree?.cylinders?.length);
  expect(tree?.n_shoots).toBe(tree?.shoots?.length);
  expect(tree?.cylinders?.[0]?.start[0]).toBeCloseTo(10, 0);
  expect(small).toMatchObject({ points_in_tree: 20, points_used: 0, n_cylinders: 0, n_shoots: 0, metrics: null });
  expect(small?.error).toMatch(/^too few points/);
  expect(small && "cylinders" in small).toBe(false);
  expect(stages.some(([, message]) => /^Tree [123]\/3: /.test(message))).toBe(true);
  expect(stages.at(-1)).toEqual([1, "Done"]);
  const fractions = stages.flatMap(([fraction]) => (fraction === null ? [] : [fraction]));
  expect([...fractions].sort((a, b) => a - b)).toEqual(fractions);
});

test("points of trees without a wood class are told: they came back after wood was told from leaves", async () => {
  const back = stand(true).map((row, i) => (i > 50 && i <= 60 ? row.replace(/ 7 [12]$/, " 7 0") : row));
  const { session_id } = await cloud(made, back);
  const said = [expect.stringMatching(/^10 points of trees have no wood class.*models leave them out/)];
  expect((await models(session_id, { tree_ids: [7], include_models: false })).warnings).toEqual(said);
  expect((await models(session_id, { tree_ids: [7], wood_only: false })).warnings).toEqual([]);
  const grounded = back.map((row, i) => (i === 0 ? `${row} ground_class` : `${row} ${/ 7 0$/.test(row) ? 1 : 2}`));
  const { session_id: on_ground } = await cloud(made, grounded);
  expect((await models(on_ground, { tree_ids: [7], include_models: false })).warnings).toEqual([]);
});

test("a stem is drawn out to the ground where heights are known", async () => {
  const above = forkedTree([0, 0, 0.4]);
  const rows = above.map(([x, y, z]) => `${x} ${y} ${z} 1 ${z}`);
  const plain = await cloud(made, ["x y z tree_instance", ...above.map((point) => [...point, 1].join(" "))]);
  const known = await cloud(made, ["x y z tree_instance height_above_ground", ...rows]);
  const [without] = (await models(plain.session_id, { wood_only: false })).results;
  const [drawn] = (await models(known.session_id, { wood_only: false })).results;
  expect(without?.base_gap_m).toBeNull();
  expect(drawn?.base_gap_m).toBeCloseTo(without?.cylinders?.[0]?.start[2] ?? Number.NaN, 6);
  expect(drawn?.base_gap_m).toBeGreaterThan(0.35);
  const base = drawn?.cylinders?.[0];
  expect(base?.start[2]).toBeCloseTo(0, 6);
  const more = Math.PI * (base?.radius ?? 0) ** 2 * (drawn?.base_gap_m ?? 0);
  const volume = (one: typeof drawn) => one?.metrics?.total_woody_volume_m3 ?? 0;
  expect(volume(drawn) - volume(without)).toBeGreaterThan(0.99 * more);
  expect(volume(drawn) - volume(without)).toBeLessThan(1.05 * more);
  const told = expect.stringMatching(
    /^the lowest points of the stem are 0\.4 m above the ground: the model was drawn out/,
  );
  expect(drawn?.warnings).toContainEqual(told);
});

test("the model of a tree is that of a build of its points", async () => {
  const { session_id } = await cloud(made, stand(true));
  const { results } = await models(session_id, { tree_ids: [7] });
  const response = await run(made, "/api/qsm/build", { points: forkedTree([0, 0, 0]) });
  const alone = response.outcome.kind === "json" ? (response.outcome.value as { cylinders: unknown }) : undefined;
  expect(results.map(({ tree_id }) => tree_id)).toEqual([7]);
  expect(results[0]?.cylinders).toEqual(alone?.cylinders);
});

/** Tree 3 with its leaves. */
const leafy = forkedTree([10, 0, 0]).flatMap((point, i) =>
  i % 4 === 0 ? [point, [point[0] + 3, point[1] + 2, point[2]]] : [point],
);
const lowest = (points: readonly (readonly number[])[], axis: number) =>
  Math.min(...points.map((point) => point[axis] as number));
const lows = [0, 1, 2].map((axis) => lowest(leafy, axis));
const cellOf = (point: readonly number[], edge: number) =>
  point.map((value, axis) => Math.floor((value - (lows[axis] as number)) / edge)).join(" ");

test("options: thinning, no models, no wood filter", async () => {
  const { session_id } = await cloud(made, stand(true));
  const { results, warnings } = await models(session_id, {
    tree_ids: [3, 99],
    max_points_per_tree: 2000,
    include_models: false,
    wood_only: false,
  });
  expect(warnings[0]).toBe("1 of tree_ids is no tree of this cloud.");
  expect(warnings[1]).toMatch(
    /^1 tree was thinned to at most 2000 points.*of tree 3, are [\d.]+ cm.*max_points_per_tree/,
  );
  expect(warnings).toHaveLength(2);
  const [tree] = results;
  expect(tree).toMatchObject({ tree_id: 3, wood_only: false, points_in_tree: 12_500 });
  expect(tree?.points_used).toBeLessThanOrEqual(2000);
  expect(tree?.points_used, "as many as the budget allows").toBeGreaterThan(1700);
  expect(tree?.points_used).toBe(new Set(leafy.map((point) => cellOf(point, tree?.voxel_m ?? 1))).size);
  expect(tree && "cylinders" in tree).toBe(false);
});

test("without wood labels all points are used, and a warning says so", async () => {
  const { session_id } = await cloud(made, stand(false));
  const { results, warnings } = await models(session_id, { include_models: false });
  expect(warnings).toEqual([expect.stringContaining("No wood labels")]);
  expect(results.map(({ wood_only }) => wood_only)).toEqual([false, false, false]);
});

test("a run whose trees all fail is a success", async () => {
  const { session_id } = await cloud(made, stand(true));
  const { success, results } = await models(session_id, { tree_ids: [5] });
  expect([success, results.map((tree) => tree.success)]).toEqual([true, [false]]);
});

describe("failures", () => {
  test("no tree_instance, no tree, no tree asked for, a budget out of range", async () => {
    const plain = await cloud(made, ["x y z", "0 0 0", "1 0 0"]);
    expect((await refused(plain.session_id)).error).toMatch(/no column tree_instance: run Segment Trees first/);
    const none = await cloud(made, ["x y z tree_instance", "0 0 0 0", "1 0 0 0"]);
    expect((await refused(none.session_id)).error).toMatch(/all values of tree_instance are 0/);
    const { session_id } = await cloud(made, stand(true));
    expect((await refused(session_id, { tree_ids: [99] })).error).toBe("None of tree_ids is a tree of this cloud.");
    for (const max_points_per_tree of [999, 500_001, 2000.5])
      expect((await refused(session_id, { max_points_per_tree })).error).toMatch(/from 1000 to 500000/);
  });

  test("a cancel ends the run, and gives all memory back", async () => {
    const { session_id } = await cloud(made, stand(true));
    const before = addon.bulkBytesInUse();
    const { outcome } = await canceledAmid(made, "modelTree", () => run(made, url(session_id), {}));
    expect(outcome.kind).toBe("canceled");
    expect(addon.bulkBytesInUse()).toBe(before);
  });
});

test.each([
  [0.06, /^Stems stand at different places .*: 21 mm along x .* 4 stems\)\. .*POST align_scans/],
  [0, null],
] as const)("scans that lie %d m beside each other", async (shift, told) => {
  const { session_id } = await cloud(made, forestTwice(FOUR_TREES, "scan_index", [1, 2], shift));
  const { warnings } = await models(session_id, { wood_only: false, max_points_per_tree: 1000, include_models: false });
  const drift = warnings.filter((text) => text.includes("POST align_scans"));
  expect(drift).toEqual(told ? [expect.stringMatching(told)] : []);
});

test("a tree that wind moved between its scans has the wood of the still one, and that is told", async () => {
  const of = async (sway: number, align_scans: boolean) => {
    const { session_id } = await cloud(made, swayingTree(sway));
    const request = { radius_model: "tapered", include_models: false, align_scans };
    const { results, warnings } = await models(session_id, request);
    const [tree] = results;
    const told = warnings.filter((text) => text.includes("stands at different places"));
    return { volume: tree?.metrics?.total_woody_volume_m3 ?? 0, tree, told };
  };
  const [still, aligned, left] = [await of(0, true), await of(0.08, true), await of(0.08, false)];
  expect(still.tree?.view_fit).toMatchObject({ n_views: 4, sways: false, aligned: false, spread_m: 0 });
  expect(still.told).toEqual([]);
  expect(aligned.tree?.view_fit).toMatchObject({ n_views: 4, sways: true, aligned: true });
  expect(aligned.tree?.view_fit?.spread_m).toBeCloseTo(0.04, 1);
  expect(aligned.told).toEqual([expect.stringMatching(/^1 of 1 tree stands .*were moved onto each other/)]);
  expect(Math.abs(aligned.volume / still.volume - 1)).toBeLessThan(0.04);
  expect(left.tree?.view_fit).toMatchObject({ sways: true, aligned: false });
  expect(left.told).toEqual([expect.stringMatching(/no intervals; align_scans true/)]);
  expect(Math.abs(left.volume / still.volume - 1)).toBeGreaterThan(0.08);
  expect(left.tree?.metrics?.total_woody_volume_ci95_m3).toBeNull();
});
