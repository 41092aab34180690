import { expect, test } from "vitest";
import { lowTreeWarnings } from "../../../../backend/services/trees/low-trees.ts";

const tree = (height_m: number, dbh_m = Number.NaN) => ({ height_m, dbh_m });
const stand = Array.from({ length: 18 }, () => tree(20, 0.3));

test("a tenth of low trees without a diameter is told", () => {
  expect(lowTreeWarnings([...stand, tree(1.9), tree(0.8)])).toEqual([
    expect.stringMatching(/^2 of 20 trees are lower than 4 m and have no diameter/),
  ]);
});

test("beside high trees, what is lower than a fifth of them", () => {
  expect(lowTreeWarnings([...stand, tree(3.9), tree(3.4), tree(2.1)])).toEqual([
    expect.stringMatching(/^3 of 21 trees are lower than 4 m and have no diameter/),
  ]);
  expect(lowTreeWarnings([...stand, tree(4.1), tree(4.4), tree(4.1)])).toEqual([]);
});

test("beside high trees without a diameter, too, as of fronds that hang to the ground", () => {
  expect(lowTreeWarnings([tree(4.6), tree(1.1), tree(1)])).toEqual([
    expect.stringMatching(/^2 of 3 trees are lower than 2 m .* fronds that hang to it/),
  ]);
});

test("few of many, higher ones, low ones with a diameter and low plants alone are not", () => {
  expect(lowTreeWarnings([...stand, tree(1.9)])).toEqual([]);
  expect(lowTreeWarnings([...stand, tree(2), tree(2.5), tree(1.5, 0.04)])).toEqual([]);
  expect(lowTreeWarnings([tree(1), tree(1), tree(3.9)])).toEqual([]);
  expect(lowTreeWarnings([])).toEqual([]);
});
