import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PLACES } from "../../backend/cli/batch/folders.ts";
import { matchTrees } from "../accuracy/partition-scores.ts";
import { cellsOf, labelledPoints, planOf, runJobs, shareEqual, writeForest } from "../support/cli/batch-run.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";

const CELL = 0.5;
const STEPS = `
ground:
rasters:
  cell_m: ${CELL}
trees:
inventory:
`;
test("tiles give the labels, rasters and list of the whole", async () => {
  const root = folderOfTest("batch-tiles-");
  const points = writeForest(join(root, "flight"), { side: 40, cut: 20, ground_per_m2: 12, points_per_tree: 900 });
  expect((await command(root, ["catalog", join(root, "flight"), "--out", join(root, "catalog")])).code).toBe(0);
  const tiled = await runJobs(root, `tiles:\n  buffer_m: 10\n${STEPS}`, "tiled");
  const whole = await runJobs(root, `tiles:\n  size_m: 750\n${STEPS}`, "whole");
  expect([planOf(tiled).tiles.length, planOf(whole).tiles.length]).toEqual([4, 1]);
  const [a, b] = [await labelledPoints(tiled), await labelledPoints(whole)];
  expect(a.places).toEqual(b.places);
  expect(a.places).toHaveLength(points);
  expect(shareEqual(a.ground, b.ground)).toBe(1);
  expect(matchTrees(a.tree, b.tree).f1).toBeGreaterThan(0.99);
  for (const surface of ["dtm", "dsm", "chm"]) expect(cellsOf(tiled, surface)).toEqual(cellsOf(whole, surface));
  const [mine, theirs] = [treeTable(tiled), treeTable(whole)];
  expect(mine.length).toBe(theirs.length);
  const heights = (rows: typeof mine) => rows.map(({ height_m }) => Number(height_m)).sort((a, b) => a - b);
  for (const [i, height] of heights(mine).entries())
    expect(Math.abs(height - (heights(theirs)[i] ?? 0))).toBeLessThan(0.5);
  expect(
    mine.filter(({ hegyi_index_corrected, edge }) => edge === undefined || hegyi_index_corrected === undefined),
  ).toEqual([]);
  const area = (out: string) =>
    Number(/^plot_area,([^,]+)/m.exec(readFileSync(join(out, "merged", "stand.csv"), "utf8"))?.[1]);
  expect(area(tiled) / area(whole)).toBeCloseTo(1, 3);
  expect(Math.abs(area(tiled) - 40 * 40)).toBeLessThan(10);

  // The labelled clouds are LAZ: input of another batch, whose jobs unpack them first.
  expect((await command(root, ["catalog", join(tiled, "clouds"), "--out", join(root, "again")])).code).toBe(0);
  const again = await labelledPoints(await runJobs(root, "tiles:\n  size_m: 30\nground:\n", "lazy", "again"));
  expect(again.places).toEqual(a.places);
  expect(again.tree).toEqual(a.tree);
});

test("the models of trees have a table without a list of trees, too, and what they warn of is told", async () => {
  const root = folderOfTest("batch-models-");
  writeForest(join(root, "flight"), { side: 20, cut: 20, ground_per_m2: 12, points_per_tree: 900 });
  expect((await command(root, ["catalog", join(root, "flight"), "--out", join(root, "catalog")])).code).toBe(0);
  const steps = `ground:\nrasters:\n  cell_m: ${CELL}\ntrees:\nqsm:\n  radius_model: tapered\n`;
  const out = await runJobs(root, steps, "models");
  const table = readFileSync(join(out, "merged", "tree_qsm.csv"), "utf8")
    .trim()
    .split("\n");
  expect(table.length).toBeGreaterThan(3);
  const { warnings } = JSON.parse(readFileSync(join(out, PLACES.numbers), "utf8"));
  expect(warnings).toContainEqual(
    expect.stringMatching(/^\d+ of \d+ models \(trees [\d, ]+.*\): .* % of the model's length runs through points/),
  );
});

function treeTable(out: string): Record<string, string>[] {
  const [head = "", ...rows] = readFileSync(join(out, "merged", "trees.csv"), "utf8")
    .trim()
    .split("\n");
  const names = head.split(",");
  return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [names[i] ?? "", cell])));
}
