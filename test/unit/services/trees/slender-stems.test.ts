import { expect, test } from "vitest";
import { slenderWarnings } from "../../../../backend/services/trees/slender-stems.ts";

const trees = (count: number, dbh_m: number, ratio: number) =>
  Array.from({ length: count }, () => ({ height_m: ratio * dbh_m, dbh_m }));

test("stems that are too slender for trees are told from five on", () => {
  expect(slenderWarnings(trees(5, 0.2, 260))).toEqual([
    expect.stringMatching(/^Trees with a diameter of 0\.15 m and more are 260 times as high as thick \(median of 5;/),
  ]);
  expect(slenderWarnings(trees(4, 0.2, 260))).toEqual([]);
  expect(slenderWarnings(trees(9, 0.2, 149))).toEqual([]);
  expect(slenderWarnings([...trees(5, 0.2, 80), ...trees(4, 0.2, 300)])).toEqual([]);
});

test("bamboo, saplings and trees without a diameter are not looked at", () => {
  expect(slenderWarnings(trees(50, 0.1, 220))).toEqual([]);
  expect(slenderWarnings([...trees(50, 0.02, 200), ...trees(5, 0.3, 80)])).toEqual([]);
  expect(slenderWarnings(Array.from({ length: 9 }, () => ({ height_m: 40, dbh_m: Number.NaN })))).toEqual([]);
});
