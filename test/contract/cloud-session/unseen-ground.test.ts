import { expect, test } from "vitest";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { CUT_PLOT_HEAD, cutPlot } from "../../support/scans/cut-plot.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();

/** The plot with heights above its ground, which lies at 0. */
const withHeights = (rows: readonly string[]) => [
  `${CUT_PLOT_HEAD} height_above_ground`,
  ...rows.slice(1).map((row) => `${row} ${row.split(" ")[2]}`),
];
const inventory = async (rows: readonly string[], body: object = {}) =>
  tail(made, TreeInventoryTail, `/api/cloud/session/${(await cloud(made, rows)).session_id}/tree_inventory`, body);
const told = ({ warnings }: TreeInventoryTail) => (warnings ?? []).filter((one) => one.includes("unseen_share"));

/** Ground of 3 by 24 of 12 by 24 m. */
const hidden = (y: number, z: number) => z < 0.001 && y > 1 && y < 4;

test("a plot of which a part was hidden tells how much, and that stems may be missing", async () => {
  const whole = await inventory(withHeights(cutPlot()));
  expect(whole.stand?.unseen_share).toBeLessThan(0.02);
  expect(told(whole)).toEqual([]);
  const rows = cutPlot((_x, y, z) => !hidden(y, z));
  const part = await inventory(withHeights(rows));
  expect(part.stand?.unseen_share).toBeCloseTo(0.25, 1);
  expect(told(part)).toEqual([
    expect.stringMatching(
      /^No point lies lower than 2 m above the ground on 2\d % of the plot .* Scan from more places\.$/,
    ),
  ]);
  const without = await inventory(rows);
  expect([without.stand?.unseen_share, told(without)]).toEqual([null, []]);
});

test("tall trees without a diameter are told", async () => {
  const missing = (list: TreeInventoryTail) =>
    (list.warnings ?? []).filter((one) => one.includes("have none") || one.includes("has none"));
  expect(missing(await inventory(withHeights(cutPlot())))).toEqual([]);
  // The stem of the tree at x = 6 was not seen below 5 m.
  const rows = withHeights(cutPlot((x, _y, z) => x < 4 || z < 0.001 || z > 5.5));
  const list = await inventory(rows);
  expect(list.trees.map(({ dbh_m }) => dbh_m === null)).toEqual([false, false, true]);
  expect(missing(list)).toEqual([
    expect.stringMatching(
      /^1 of 3 trees that are at least half as high .* has none, .* basal area is too small by about 3\d %/,
    ),
  ]);
});
