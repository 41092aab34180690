import { expect, test, vi } from "vitest";
import * as edit from "../../../backend/native/cloud/edit.ts";
import { addon } from "../../../backend/native/core/addon.ts";
import type { NativeColumn } from "../../../backend/native/core/handles.ts";
import * as native from "../../../backend/native/inventory.ts";
import { extraKey } from "../../../backend/sessions/column-names.ts";
import {
  INVENTORY_CONSTANTS,
  INVENTORY_DEFAULTS,
  TreeInventoryTail,
} from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { type ForestTree, forestRows } from "../../support/scans/forest.ts";
import { inventories, inventoryUrl, TWO_TREES } from "../../support/session/inventories.ts";
import { cloud, numbersOf, streamed } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const url = inventoryUrl;
const { forest, measure, refusedTail } = inventories(made);
const TREES = TWO_TREES;

test("a row per tree, its stem curve and the stand, with progress", async () => {
  const { session_id } = await forest();
  const { tail: list, stages } = await streamed(made, TreeInventoryTail, url(session_id));
  expect([list.success, list.error, list.warnings, list.skipped]).toEqual([true, null, [], []]);
  expect(list.trees.map(({ tree_id }) => tree_id)).toEqual([3, 8]);
  for (const [i, tree] of list.trees.entries()) {
    const truth = TREES[i] as ForestTree;
    expect(tree.dbh_m).toBeCloseTo(truth.dbh_m, 2.5);
    expect(tree.dbh?.sigma_m).toBeGreaterThan(0);
    expect(tree.dbh?.sigma_m).toBeLessThan(0.02);
    expect(tree.dbh?.flags).toEqual([]);
    expect(tree.flags).toEqual([]);
    expect(tree.stem_base?.[0]).toBeCloseTo(truth.x, 2);
    expect(tree.stem_base?.[1]).toBeCloseTo(truth.y, 2);
    expect(tree.ground_source).toBe("height_above_ground");
    expect(tree.height_m).toBeCloseTo(8, 1);
    expect(tree.basal_area_m2).toBe((Math.PI / 4) * (tree.dbh_m ?? 0) ** 2);
    expect(tree.slenderness).toBe((tree.height_m ?? 0) / (tree.dbh_m ?? 1));
    expect(tree.crown_diameter_mean_m).toBe(((tree.crown_max_width_m ?? 0) + (tree.crown_perp_width_m ?? 0)) / 2);
    expect(tree.crown_hull_xy?.length).toBeGreaterThan(8);
    expect(tree.n_competitors).toBe(1);
    expect(tree.edge).toBe(true);
  }
  const [a, b] = list.trees;
  const distance = Math.hypot(
    (a?.stem_base?.[0] ?? 0) - (b?.stem_base?.[0] ?? 0),
    (a?.stem_base?.[1] ?? 0) - (b?.stem_base?.[1] ?? 0),
  );
  expect(a?.hegyi_index).toBeCloseTo((b?.dbh_m ?? 0) / (a?.dbh_m ?? 1) / distance, 10);
  expect(a?.hegyi_index_corrected).toBeGreaterThanOrEqual(a?.hegyi_index ?? 1);
  expect(
    list.stem_curve
      .filter(({ tree_id }) => tree_id === 3)
      .map(({ axial_m }) => axial_m)
      .slice(0, 3),
  ).toEqual([0.5, 1, 1.5]);
  expect(list.ground_sources).toEqual({ height_above_ground: 2, ground_class: 0, tree_min_z: 0 });
  expect(list.stand).toMatchObject({ plot_source: "ground_class", plot_area_m2: 18 * 12, competition_radius_m: 6 });
  expect(list.params).toEqual({ ...INVENTORY_DEFAULTS, ...INVENTORY_CONSTANTS, tree_ids: null, skip_noise: true });
  const labels = stages.map(([, message]) => message).filter((message) => message !== "");
  expect(labels[0]).toBe("Indexing trees");
  expect(labels.at(-1)).toBe("Finalizing");
  expect(stages.at(-1)?.[0]).toBe(1);
});

test("a breast height in feet is told", async () => {
  const { session_id: id } = await forest();
  expect((await measure(id, { breast_height_m: 4.5 })).warnings.join("\n")).toContain("4.5 feet are 1.37 m");
  expect((await measure(id)).warnings.join("\n")).not.toContain("4.5 feet");
});

test("true world coordinates, and the same measures, in a shifted session", async () => {
  const { session_id } = await forest();
  const shifted = await forest({ world_shift: [1, 2, 0.5] });
  const [plain, moved] = [await measure(session_id), await measure(shifted.session_id)];
  for (const [i, tree] of plain.trees.entries()) {
    const other = moved.trees[i];
    expect(other?.dbh_m).toBeCloseTo(tree.dbh_m ?? 0, 6);
    expect(other?.stem_base?.[0]).toBeCloseTo(tree.stem_base?.[0] ?? 0, 6);
    expect(other?.height_m).toBeCloseTo(tree.height_m ?? 0, 6);
  }
});

test("a patch of ground under some of the trees is no plot: the hull of all points is, and a warning says so", async () => {
  const patch = forestRows(TREES).filter((row) => !/ 0 0 1$/.test(row) || Number(row.split(" ")[0]) <= 8);
  const { session_id } = await forest({}, patch);
  const list = await measure(session_id);
  expect(list.stand?.plot_source).toBe("all_points");
  expect(list.stand?.plot_area_m2).toBeGreaterThan(8 * 12);
  expect(list.warnings).toEqual([
    expect.stringMatching(/^Around the stem of 1 of 2 trees .* tree 8\): it lies under plants, or was cut off there; /),
    expect.stringMatching(/^The ground that was seen lies under \d+ % of the trees/),
    expect.stringMatching(/^The plot is the hull of all points, \d+ m²/),
  ]);
});

test("trees far apart without ground have no plot, cover and values per area", async () => {
  const far: readonly ForestTree[] = [
    { id: 1, x: 0, y: 0, dbh_m: 0.3 },
    { id: 2, x: 90, y: 0, dbh_m: 0.2 },
    { id: 3, x: 0, y: 90, dbh_m: 0.2 },
  ];
  const { session_id } = await forest(
    {},
    forestRows(far).filter((row) => !/ 0 0 1$/.test(row)),
  );
  const list = await measure(session_id);
  expect(list.stand).toMatchObject({ plot_source: "none", plot_area_m2: null, plot_polygon: null, cover_cell_m: 0 });
  expect(list.warnings.join(" ")).toMatch(/Points cover only \d+ % of the area .* enter the plot area/);
  expect(list.trees.every(({ edge, hegyi_index_corrected }) => edge === true && hegyi_index_corrected === null)).toBe(
    true,
  );
});

test("sizes of trees are counted when there is memory for it", async () => {
  const { session_id } = await forest();
  const counted = vi.spyOn(edit, "classCounts");
  const run = vi.spyOn(made.deps.admission, "run");
  try {
    expect((await measure(session_id)).success).toBe(true);
    expect(run.mock.calls.map(([, label]) => label)).toEqual(["Tree sizes", "Tree inventory"]);
    expect(counted.mock.invocationCallOrder[0]).toBeGreaterThan(run.mock.invocationCallOrder[0] ?? Infinity);
  } finally {
    counted.mockRestore();
    run.mockRestore();
  }
});

test("ids that are not measured are skipped with a reason, and a subset has no stand", async () => {
  const small = ["1 1 0.5 5 0.5 2", "1 1 0.6 5 0.6 2"];
  const { session_id } = await forest({}, [...forestRows(TREES), ...small]);
  const all = await measure(session_id);
  expect(all.skipped).toEqual([{ tree_id: 5, n_points: 2, reason: "fewer than 50 points" }]);
  expect(all.warnings).toEqual(["1 tree with fewer than 50 points skipped (min_points)."]);
  const subset = await measure(session_id, { tree_ids: [8, 99] });
  expect(subset.trees.map(({ tree_id }) => tree_id)).toEqual([8]);
  expect(subset.skipped).toEqual([{ tree_id: 99, n_points: 0, reason: "no point of the cloud has this id" }]);
  expect([subset.stand, subset.trees[0]?.hegyi_index, subset.trees[0]?.edge]).toEqual([null, undefined, undefined]);
  expect(subset.warnings.join(" ")).toContain("need every tree");
  expect((await refusedTail(session_id, { tree_ids: [] })).error).toBe("No tree could be measured; tree_ids is empty.");
  const tiny = await measure(session_id, { tree_ids: [5], min_points: 1 });
  expect(tiny.trees).toEqual([{ tree_id: 5, n_points: 2, flags: ["too_few_points"] }]);
});

test("deleted points do not count, and all trees may be skipped", async () => {
  const { session_id } = await forest();
  await made.remove(session_id, -1, 7);
  const region = { kind: "box", min: [-100, -100, -100], max: [8.5, 100, 100] };
  await made.post(session_id, "delete_region", { region });
  const left = await measure(session_id);
  expect(left.trees.map(({ tree_id }) => tree_id)).toEqual([8]);
  const none = await refusedTail(session_id, { min_points: 1_000_000 });
  expect([none.success, none.trees, none.stand, none.skipped.map(({ tree_id }) => tree_id)]).toEqual([
    false,
    [],
    null,
    [8],
  ]);
  expect(none.warnings.join(" ")).toContain("skipped");
});

test("without ground the lowest point of a tree is its ground", async () => {
  const bare = forestRows(TREES).filter((row) => !row.endsWith(" 0 0 1"));
  const rows = bare.map((row) => row.split(" ").slice(0, 4).join(" "));
  const { session_id } = await cloud(made, rows);
  const list = await measure(session_id);
  expect(list.ground_sources).toEqual({ height_above_ground: 0, ground_class: 0, tree_min_z: 2 });
  expect(list.trees[0]?.flags).toEqual(["ground_from_tree_min"]);
  expect(list.stand?.plot_source).toBe("all_points");
  expect(list.warnings.join(" ")).toContain("lowest point");
});

test("a tree that came back after its columns were written has its height from its own points, and it is said", async () => {
  const back = (row: string) => row.replace(/ 8 [-.\d]+ 2$/, " 8 0 0");
  const { session_id } = await forest({}, forestRows(TREES).map(back));
  const list = await measure(session_id);
  expect(list.trees.map(({ height_m }) => Math.round(height_m ?? 0))).toEqual([8, 8]);
  expect(list.trees.map(({ ground_source }) => ground_source)).toEqual(["height_above_ground", "ground_class"]);
  expect(list.warnings).toEqual([expect.stringMatching(/^3000 points have no ground class.*Segment the ground again/)]);
});

test.each([
  [6, 22, [/^Points of tree 3 stand in two places more than 5 m apart.*same tree numbers.*Segment the trees again/]],
  [6, 12, []],
])("two trees of one number at x = %d and %d m", async (x, other, said) => {
  const pair = [x, other].map((at) => ({ id: 3, x: at, y: 6, dbh_m: 0.3 }));
  const { session_id } = await forest({}, forestRows([...pair, { id: 8, x: 9, y: 9, dbh_m: 0.2 }]));
  const { warnings } = await measure(session_id);
  expect(warnings.filter((text) => /places/.test(text))).toEqual(said.map((text) => expect.stringMatching(text)));
});

test.each([
  [0.1, [/^x and y come in steps of 0\.1 m.*diameters are wrong/]],
  [0.05, [/^x and y come in steps of 0\.05 m/]],
  [0.01, []],
])("x and y in steps of %d m", async (step, said) => {
  const [names = "", ...points] = forestRows(TREES);
  const rounded = points.map((row) => {
    const [x, y, ...rest] = row.split(" ");
    return [x, y]
      .map((value) => (Math.round(Number(value) / step) * step).toFixed(3))
      .concat(rest)
      .join(" ");
  });
  const { session_id } = await forest({}, [names, ...rounded]);
  const { warnings } = await measure(session_id);
  expect(warnings).toEqual(said.map((text) => expect.stringMatching(text)));
});

test("columns in files give the numbers of columns in memory", async () => {
  const { session_id } = await forest();
  const session = await made.deps.sessions.get(session_id);
  await made.deps.sessions.spill(session);
  const { columns } = session.state;
  const stored = (key: string) => columns.get(key)?.native as NativeColumn;
  expect(stored("positions").fileBacked).toBe(true);
  const copied = (key: string) => {
    const bytes = new Uint8Array(stored(key).bytes);
    stored(key).readInto(bytes, 0);
    return new addon.Column(stored(key).dtype, bytes);
  };
  const { slice_widen_m, ...constants } = INVENTORY_CONSTANTS;
  const params = { ...INVENTORY_DEFAULTS, ...constants, slice_widen_m, tree_ids: null };
  const measured = async (column: (key: string) => NativeColumn) => {
    const cloud_ = {
      positions: column("positions"),
      skip: null,
      tree_instance: column(extraKey("tree_instance")),
      height_above_ground: column(extraKey("height_above_ground")),
      ground_class: column(extraKey("ground_class")),
      shift: [0, 0, 0] as const,
    };
    const { trees, curve, hulls, stand_trees, stand } = await native.treeInventory(cloud_, params).promise;
    return { tables: [trees, curve, hulls, stand_trees].map(numbersOf), stand };
  };
  const [files, memory] = [await measured(stored), await measured(copied)];
  expect(files).toEqual(memory);
  expect(files.tables[0]?.length).toBeGreaterThan(50);
});
