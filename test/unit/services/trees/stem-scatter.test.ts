import { expect, test } from "vitest";
import { scatterWarnings } from "../../../../backend/services/trees/stem-scatter.ts";

test("points that scatter more than bark about the circles of most stems are told", () => {
  expect(scatterWarnings([0.003, 0.02, 0.021, 0.03, Number.NaN])).toEqual([
    expect.stringMatching(/^The points of stems scatter 21 mm .*median of 4 stems.*sigma_m/),
  ]);
});

test("bark, a few stems, or none, are not", () => {
  expect(scatterWarnings([0.003, 0.009, 0.011, 0.05])).toEqual([]);
  expect(scatterWarnings([0.05, 0.05, Number.NaN])).toEqual([]);
  expect(scatterWarnings([])).toEqual([]);
});
