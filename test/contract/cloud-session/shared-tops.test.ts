// Trees whose highest point lies among points of others.
import { expect, test } from "vitest";
import { treeCsv } from "../../../shared/client/inventory-tables.ts";
import { DEFAULT_STAND_SETTINGS } from "../../../shared/client/stand.ts";
import { TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { uniform } from "../../accuracy/random.ts";
import { cutPlot } from "../../support/scans/cut-plot.ts";
import { cloud, tail } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const inventory = async (rows: readonly string[], body: object = {}) =>
  tail(made, TreeInventoryTail, `/api/cloud/session/${(await cloud(made, rows)).session_id}/tree_inventory`, body);
const told = ({ warnings }: TreeInventoryTail) => (warnings ?? []).filter((one) => one.includes("highest point among"));

/** The upper half of the crown of tree 4 is given to tree 9. */
const mistaken = cutPlot().map((row) => {
  const [x, y, z, tree, ...classes] = row.split(" ");
  return [x, y, z, tree === "4" && Number(z) > 8 ? "9" : tree, ...classes].join(" ");
});

test("a top that another tree has taken is told, with the trees and how far heights are off", async () => {
  const right = await inventory(cutPlot());
  expect(right.trees.map(({ top_shared }) => top_shared)).toEqual([0, 0, 0]);
  expect(right.trees.flatMap(({ flags }) => flags)).not.toContain("shared_top");
  expect(told(right)).toEqual([]);

  const wrong = await inventory(mistaken);
  const [third, fourth] = wrong.trees;
  expect(third?.top_shared).toBe(0);
  expect(fourth?.top_shared).toBeGreaterThan(0.4);
  expect(fourth?.top_shared).toBeLessThan(0.8);
  expect(fourth?.flags).toContain("shared_top");
  expect(fourth?.height_m).toBeLessThan((right.trees[1]?.height_m ?? 0) - 1.5);
  expect(told(wrong)).toEqual([
    expect.stringMatching(
      /^1 of 3 trees has its highest point among points of other trees \(flags: shared_top; tree 4\): .* Look at these trees before their heights are used\.$/,
    ),
  ]);

  const alone = await inventory(mistaken, { tree_ids: [4] });
  expect(alone.trees[0]?.top_shared).toBe(fourth?.top_shared); // the others are seen, though they are not measured
  const csv = [...treeCsv({ scan_name: "plot", trees: wrong.trees, settings: DEFAULT_STAND_SETTINGS })].map((one) =>
    one.trim().split(","),
  );
  const at = csv[0]?.indexOf("top_shared") ?? -1;
  expect(csv.slice(1).map((row) => Number(row[at]))).toEqual(wrong.trees.map(({ top_shared }) => top_shared));
});

test("points labelled as noise do not share a top", async () => {
  const [head = "", ...rows] = mistaken;
  const noisy = rows.map((row) => {
    const [, , z, tree] = row.split(" ");
    return `${row} ${tree === "9" && Number(z) > 8 ? 2 : 1}`;
  });
  const list = await inventory([`${head} noise_class`, ...noisy]);
  expect(list.trees.find(({ tree_id }) => tree_id === 4)?.top_shared).toBe(0);
});

test("small plants are looked at within a tenth of their height", async () => {
  const next = uniform(4);
  const plant = (tree: number, x: number) =>
    Array.from({ length: 3000 }, () => {
      const [h, turn] = [next(), 2 * Math.PI * next()];
      const r = 0.2 * (1 - h) * next();
      return [x + r * Math.cos(turn), r * Math.sin(turn), 0.6 * h, tree].map((value) => value.toFixed(4)).join(" ");
    });
  const list = await inventory(["x y z tree_instance", ...plant(1, 0), ...plant(2, 0.4)]);
  expect(list.trees.map(({ top_shared }) => top_shared)).toEqual([0, 0]);
});
