import { expect, test } from "vitest";
import { groundResidualWarnings } from "../../../../backend/services/classify/ground-residual.ts";

/** `count` ground points of 100 m x 100 m: 1 m apart are 10,000. */
const told = (residual_m: number | null, num_ground: number) =>
  groundResidualWarnings(residual_m, { num_ground, extent: [100, 100] }).length;

test.each([
  [null, 10_000, 0],
  [0.149, 10_000, 0],
  [0.15, 10_000, 1],
  [0.24, 1600, 0], // 2.5 m apart
  [0.25, 1600, 1],
  [0.16, 1e8, 1],
])("a residual of %s m of %i points: %i warnings", (residual_m, num_ground, warnings) => {
  expect(told(residual_m, num_ground)).toBe(warnings);
});
