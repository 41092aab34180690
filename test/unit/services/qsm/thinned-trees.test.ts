import { expect, test } from "vitest";
import { thinnedTreeWarnings } from "../../../../backend/services/qsm/thinned-trees.ts";

const tree = (tree_id: number, voxel_m: number | null) => ({
  tree_id,
  points_in_tree: 90_000,
  points_used: 60_000,
  voxel_m,
});
const told = (...trees: ReturnType<typeof tree>[]) => thinnedTreeWarnings(trees, { max_points_per_tree: 60_000 });

test("the widest voxels of thinned trees are told", () => {
  expect(told(tree(1, null))).toEqual([]);
  expect(told(tree(1, 0.011), tree(2, 0.023), tree(3, null))).toEqual([
    expect.stringMatching(/^2 trees were thinned to at most 60000 points.*of tree 2, are 2\.3 cm/),
  ]);
});

test("points of one place that were left out are no loss", () => {
  expect(told(tree(7, 0.0001))).toEqual([expect.stringMatching(/^1 tree was thinned .* no place is lost\.$/)]);
});
