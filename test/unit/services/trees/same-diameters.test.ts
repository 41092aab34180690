import { expect, test } from "vitest";
import { sameDiameters, sameDiameterWarnings } from "../../../../backend/services/trees/same-diameters.ts";
import { gaussian, uniform } from "../../../accuracy/random.ts";

const listed = (values: readonly number[]) => values.map((dbh_m, i) => ({ tree_id: i + 1, dbh_m }));

test("stakes beside young trees are told", () => {
  const next = uniform(3);
  const young = Array.from({ length: 9 }, () => 0.05 + 0.05 * next());
  const stakes = Array.from({ length: 24 }, () => 0.076 + 0.0007 * next());
  expect(sameDiameterWarnings(listed([...young, ...stakes]))).toEqual([
    expect.stringMatching(
      /^24 of 33 trees have the same diameter \(76 to 77 mm; tree 10, 11, 12, 13, 14, \.\.\), as tree/,
    ),
  ]);
});

test("shelters around all trees are told", () => {
  expect(sameDiameters(listed([0.1201, 0.1202, 0.12, 0.1203, 0.1199, 0.12, 0.1202])).length).toBe(7);
});

test.each([
  ["of an even-aged stand", 600, 0.2, 0.03],
  ["of a natural forest", 320, 0.28, 0.1],
  ["of a nursery", 200, 0.02, 0.004],
  ["of a small plot", 12, 0.3, 0.05],
])("diameters %s are not", (_, count, mean, spread) => {
  for (let seed = 1; seed <= 40; seed += 1) {
    const next = uniform(seed);
    const stand = Array.from({ length: count }, () => Math.max(0.008, mean + spread * gaussian(next)));
    expect(sameDiameterWarnings(listed(stand)), `seed ${seed}`).toEqual([]);
  }
});

test("a few, or none, are not", () => {
  expect(sameDiameterWarnings(listed([0.1, 0.1, 0.1, 0.1]))).toEqual([]);
  expect(sameDiameterWarnings([])).toEqual([]);
});
