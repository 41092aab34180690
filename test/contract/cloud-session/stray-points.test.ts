// Rain, snow, insects and noise in trees, and stems whose tops no beam reached.
import { expect, test } from "vitest";
import { treeCsv } from "../../../shared/client/inventory-tables.ts";
import { DEFAULT_STAND_SETTINGS, isNoTree } from "../../../shared/client/stand.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { uniform } from "../../accuracy/random.ts";
import { CUT_PLOT_HEAD, cutPlot } from "../../support/scans/cut-plot.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const inventory = async (rows: readonly string[], body: object = {}) =>
  tail(made, TreeInventoryTail, `/api/cloud/session/${(await cloud(made, rows)).session_id}/tree_inventory`, body);
const told = ({ warnings }: TreeInventoryTail, what: string) => (warnings ?? []).filter((one) => one.includes(what));
const byId = ({ trees }: TreeInventoryTail, id: number) => trees.find(({ tree_id }) => tree_id === id);

/** Drops in a box of 4 x 4 x 4 m, less than one per cubic metre, which a segmentation took for a tree. */
function drops(tree: number): string[] {
  const next = uniform(5);
  return Array.from({ length: 60 }, () =>
    [4 * next() - 2, 4 * next() - 6, 1 + 4 * next(), tree, 2, 1].map((value) => Number(value.toFixed(4))).join(" "),
  );
}
const above = (x: number, tree: number) =>
  [
    [x + 0.3, 0.4, 11.9],
    [x - 0.6, 0.9, 11.4],
  ].map(([a, b, z]) => `${a} ${b} ${z} ${tree} 2 2`);

test("a cluster of drops is no tree, and drops above a crown are told with what they add to its height", async () => {
  const dry = await inventory(cutPlot());
  expect(dry.trees.map(({ stray_top_m }) => stray_top_m)).toEqual([0, 0, 0]);
  expect(dry.trees.flatMap(({ flags }) => flags)).not.toEqual(expect.arrayContaining(["stray_top"]));
  expect([...told(dry, "stands alone"), ...told(dry, "as far apart")]).toEqual([]);

  const wet = await inventory([...cutPlot(), ...drops(12), ...above(0, 4)]);
  const none = byId(wet, 12);
  expect(none?.flags).toEqual(expect.arrayContaining(["no_stem", "scattered"]));
  expect(none && isNoTree(none)).toBe(true);
  const true_m = byId(dry, 4)?.height_m ?? Number.NaN;
  const high = byId(wet, 4);
  expect(high?.flags).toContain("stray_top");
  expect((high?.height_m ?? 0) - (high?.stray_top_m ?? 0)).toBeCloseTo(true_m, 3);
  expect(high?.stray_top_m).toBeGreaterThan(1);
  expect(byId(wet, 3)?.flags).not.toContain("stray_top");
  expect(told(wet, "as far apart")).toEqual([
    expect.stringMatching(/^1 of 4 tree has points at least 8 times .* \(tree 12\), .*: no tree\..*flags: scattered/),
  ]);
  expect(told(wet, "stands alone")).toEqual([
    expect.stringMatching(
      new RegExp(
        `^1 of 3 trees .* \\(flags: stray_top; tree 4\\), .* up to ${high?.stray_top_m?.toFixed(2)} m too large`,
      ),
    ),
  ]);
  expect(wet.stand?.crown_area_sum_m2).toBeLessThan((dry.stand?.crown_area_sum_m2 ?? 0) + 1);
  expect(told(wet, "Heights depend on the density")).toEqual([]);

  const csv = [...treeCsv({ scan_name: "plot", trees: wet.trees, settings: DEFAULT_STAND_SETTINGS })].map((one) =>
    one.trim().split(","),
  );
  const at = csv[0]?.indexOf("stray_top_m") ?? -1;
  expect(csv.slice(1).map((row) => Number(row[at]))).toEqual(wet.trees.map(({ stray_top_m }) => stray_top_m));
});

test("points labelled as noise are none of a tree", async () => {
  const [head, ...rows] = cutPlot();
  const labelled = [...rows.map((row) => `${row} 1`), ...above(0, 4).map((row) => `${row} 2`)];
  const list = await inventory([`${head} noise_class`, ...labelled]);
  expect(byId(list, 4)?.stray_top_m).toBe(0);
  expect(told(list, "stands alone")).toEqual([]);
});

test("without ground points nothing is scattered", async () => {
  const list = await inventory([...cutPlot((_x, _y, z) => z > 0.01), ...drops(12)]);
  expect(byId(list, 12)?.flags).not.toContain("scattered");
});

test("stems that end while they are thick are told, whole ones are not", async () => {
  const whole = await inventory(cutPlot());
  expect(whole.trees.flatMap(({ flags }) => flags)).not.toContain("thick_top");
  expect(told(whole, "the stem is thick")).toEqual([]);

  // What a phone sees of them: nothing above some metres.
  const near = cutPlot((x, y, z) => z < 4.9 - 0.1 * Math.hypot(x % 6, y));
  const list = await inventory(near);
  expect(list.trees.map(({ flags }) => flags.includes("thick_top"))).toEqual([true, true, true]);
  expect(told(list, "the stem is thick")).toEqual([
    expect.stringMatching(
      /^3 of 3 trees with a diameter end while the stem is thick \(flags: thick_top; tree 3, 4, 9; tree 3: \d\d cm thick 0\.\d m below its highest point\).*With so many of them/,
    ),
  ]);
  expect(near[0]).toBe(CUT_PLOT_HEAD);
});
