import { expect, test } from "vitest";
import { mirroredTreeWarnings } from "../../../../backend/services/trees/mirrored-trees.ts";

const pair = (tree_id: number) => ({ tree_id, of: tree_id - 1 });

test("images are named with their trees", () => {
  expect(mirroredTreeWarnings([])).toEqual([]);
  expect(mirroredTreeWarnings([pair(4)])).toEqual([
    expect.stringMatching(
      /^1 tree is the mirror image of another, .* \(flags: mirror_image; tree 4 of 3\).* It has no diameter and is in .*enter the plot area.*\. Delete such/,
    ),
  ]);
  expect(mirroredTreeWarnings([2, 4, 6, 8, 10, 12].map(pair))).toEqual([
    expect.stringMatching(/^6 trees are mirror images of others, .* tree 2 of 1, .* 10 of 9, \.\.\).* They have/),
  ]);
});
