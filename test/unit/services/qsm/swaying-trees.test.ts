import { expect, test } from "vitest";
import { swayingTreeWarnings } from "../../../../backend/services/qsm/swaying-trees.ts";

const tree = (tree_id: number, spread_m: number, aligned = true) => ({
  tree_id,
  view_fit: { n_views: 4, spread_m, scatter_m: 0.003, together_m: 0.006, sways: spread_m > 0, aligned },
});

test("trees that scans show at different places are told, with the worst", () => {
  expect(swayingTreeWarnings([{ tree_id: 1, view_fit: null }, tree(2, 0)])).toEqual([]);
  expect(swayingTreeWarnings([{ tree_id: 1, view_fit: null }, tree(2, 0), tree(3, 0.021), tree(4, 0.034)])).toEqual([
    expect.stringMatching(/^2 of 3 trees stand .* up to 34 mm root mean square \(tree 4\)\. .* were moved onto/),
  ]);
});

test("trees that were left as they are have no intervals, and that is told", () => {
  expect(swayingTreeWarnings([tree(3, 0.021, false)])).toEqual([
    expect.stringMatching(/^1 of 1 tree stands .* no intervals; align_scans true moves/),
  ]);
});
