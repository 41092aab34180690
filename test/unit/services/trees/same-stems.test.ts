import { expect, test } from "vitest";
import { sameStemWarnings } from "../../../../backend/services/trees/same-stems.ts";

const pair = (tree_id: number) => ({ tree_id, as: tree_id - 1 });

test("pairs of trees are named, three at most", () => {
  expect(sameStemWarnings([])).toEqual([]);
  expect(sameStemWarnings([pair(4)])).toEqual([
    expect.stringMatching(/^1 tree is measured at the stem of another, .* \(4 and 3\), and has no diameter \(flags:/),
  ]);
  expect(sameStemWarnings([4, 8, 12, 16].map(pair))).toEqual([
    expect.stringMatching(/^4 trees are .* \(4 and 3, 8 and 7, 12 and 11, \.\.\), and have no diameter/),
  ]);
});
