import { expect, test } from "vitest";
import { repeatedTreeWarnings } from "../../../../backend/services/trees/repeated-trees.ts";

const pair = (tree_id: number, x = -0.6) => ({ tree_id, of: tree_id - 1, by_m: [x, 0.254] as const });

test("repeats are named with their trees, and where they stand", () => {
  expect(repeatedTreeWarnings([])).toEqual([]);
  const found = [2, 4, 6, 8, 10, 12].map((id) => pair(id, id === 2 ? 3 : -0.6));
  expect(repeatedTreeWarnings(found)).toEqual([
    expect.stringMatching(
      /^6 trees stand .* \(x -0\.60 m, y \+0\.25 m in the median; flags: repeated; tree 2 of 1, .* 10 of 9, \.\.\).*in no value of the stand.*align_scans/,
    ),
  ]);
});
