import { expect, test } from "vitest";
import { checkCriterion, noiseParams } from "../../../backend/services/classify/noise-criterion.ts";
import { DenoiseRequest } from "../../../shared/contract/pointcloud-denoise.ts";

const longest = (median_m: number, p95_m: number) => {
  const criterion = checkCriterion(DenoiseRequest.parse({ method: "auto", points: [] }));
  const params = noiseParams(criterion, { measured: true, median_m, p95_m, warnings: [] }, 0);
  return params.method === "auto" ? params.max_link : Number.NaN;
};

test("the longest link of an even airborne scan is eight medians, or four times the 95th percentile", () => {
  expect(longest(1.34, 2.76)).toBeCloseTo(8 * 1.34, 9);
  expect(longest(0.4, 0.6)).toBeCloseTo(4 * 0.6, 9);
});

test("where densities differ much it follows the sparse part", () => {
  expect(longest(0.02, 0.42)).toBeCloseTo(4.2, 9);
  expect(longest(0.13, 0.67)).toBeCloseTo(6.7, 9);
  expect(longest(0.02, 0.07)).toBeCloseTo(0.7, 9);
});
