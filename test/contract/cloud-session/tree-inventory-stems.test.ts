import { expect, test } from "vitest";
import type { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { FOUR_TREES, type ForestTree, forestRows, forestTwice } from "../../support/scans/forest.ts";
import { inventories, TWO_TREES } from "../../support/session/inventories.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const { forest, measure } = inventories(made);
const TREES = TWO_TREES;

const measuredRows = async (lines: string[], body: object = {}) => measure((await forest({}, lines)).session_id, body);
const worstError = (list: TreeInventoryTail) =>
  Math.max(...list.trees.map(({ dbh_m, tree_id }) => Math.abs((dbh_m ?? Infinity) - (0.15 + 0.05 * tree_id))));

test("scans that do not fit each other are told, with the offset of their stems", async () => {
  const apart = await measuredRows(forestTwice(FOUR_TREES, "scan_index", [1, 2], 0.02));
  expect(apart.scan_offsets).toEqual([expect.objectContaining({ scan_a: 1, scan_b: 2, n_stems: 4 })]);
  expect(apart.scan_offsets[0]?.x_m).toBeCloseTo(0.02, 3);
  expect(apart.scan_offsets[0]?.y_m).toBeCloseTo(0, 3);
  expect(apart.warnings).toContainEqual(expect.stringMatching(/20 mm between scans 1 and 2 \(4 stems\)/));
  const fitting = await measuredRows(forestTwice(FOUR_TREES, "scan_index", [1, 2], 0));
  expect(fitting.scan_offsets[0]?.x_m).toBeCloseTo(0, 3);
  expect(fitting.warnings.join()).not.toMatch(/different scans/);
  expect(fitting.view_fit).toMatchObject({ n_stems: 4, aligned: false });
  const one = await measuredRows(forestRows(FOUR_TREES));
  expect([one.scan_offsets, one.view_fit]).toEqual([[], null]);
});

test.each([
  ["scan_index", [1, 2], /different scans: 60 mm .* moved to their mean place/],
  ["gps_time", [1000, 1500], /different times: 21 mm along x and along y .* 4 stems; .* moved to their mean place/],
] as const)("stems are measured with views by %s moved onto each other", async (name, values, told) => {
  const lines = forestTwice(FOUR_TREES, name, values, 0.06);
  const apart = await measuredRows(lines);
  expect(apart.view_fit).toMatchObject({ n_stems: 4, aligned: true });
  expect(apart.view_fit?.spread_m).toBeCloseTo(0.03 / Math.SQRT2, 3);
  expect(worstError(apart)).toBeLessThan(0.003);
  expect(apart.warnings).toContainEqual(expect.stringMatching(told));
  const lying = await measuredRows(lines, { align_scans: false });
  expect(lying.view_fit).toMatchObject({ aligned: false });
  expect(worstError(lying)).toBeGreaterThan(0.01);
  const [few, many] = [
    await measuredRows(lines, { tree_ids: [2, 3, 4] }),
    await measuredRows(lines, { tree_ids: [1, 2, 3, 4] }),
  ];
  expect([few.view_fit, many.view_fit?.aligned]).toEqual([null, true]);
  expect(few.warnings).toContainEqual(expect.stringMatching(/is not known of fewer than four stems: without tree_ids/));
  expect(many.warnings.join()).not.toMatch(/fewer than four stems/);
  expect(lying.warnings).toContainEqual(
    expect.stringMatching(/Diameters are wrong by about as much: measure with align_scans/),
  );
});

test("stems that share a tree number are told, not those of trees of their own", async () => {
  const stems = [2, 5, 8].map((x, i) => ({ id: i + 1, x, y: 3, dbh_m: 0.2 + 0.05 * i }));
  const together = stems.map((tree) => ({ ...tree, id: tree.id === 3 ? 3 : 1 }));
  const told = async (trees: readonly ForestTree[], body: object = {}) =>
    (await measure((await forest({}, forestRows(trees))).session_id, body)).warnings.filter((one) =>
      one.includes("breast height in"),
    );
  expect(await told(together)).toEqual([
    expect.stringMatching(/^2 stems were found at breast height in one tree \(tree 1: 2\)\. Unless they fork below it/),
  ]);
  expect(await told(together, { tree_ids: [3] })).toEqual([]);
  expect(await told(stems)).toEqual([]);
});

test("low trees are looked at where their trunks are", async () => {
  const stems = [2, 5, 8].map((x, i) => ({ id: i === 1 ? 1 : i + 1, x, y: 3, dbh_m: 0.25 }));
  const [head = "", ...rows] = forestRows(stems);
  const lengths = head.split(" ").map((name) => ["x", "y", "z", "height_above_ground"].includes(name));
  const low = rows.map((row) =>
    row
      .split(" ")
      .map((cell, i) => (lengths[i] ? 0.3 * Number(cell) : cell))
      .join(" "),
  );
  const { warnings } = await measure((await forest({}, [head, ...low])).session_id);
  expect(warnings).toContainEqual(
    expect.stringMatching(
      /^2 stems were found 0\.\d to 0\.\d m above the ground in one tree \(tree 1: 2\)\. Unless they fork below it, or are limbs/,
    ),
  );
});

test("trees too far apart to look for stems are measured, and that is told", async () => {
  const rows = forestRows(TREES);
  const far = rows
    .slice(1)
    .map((row) => row.replace(/^(\S+)/, (x) => String(Number(x) + 3e8)).replace(/ (3|8) (?=\S+ 2$)/, " 1$1 "));
  const list = await measure((await forest({}, [...rows, ...far])).session_id);
  expect([list.success, list.trees.length]).toEqual([true, 4]);
  expect(list.warnings).toContainEqual(
    expect.stringMatching(/^Whether trees hold several stems was not looked at: .*1e8 m/),
  );
});
