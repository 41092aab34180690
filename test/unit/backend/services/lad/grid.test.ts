import { expect, test } from "vitest";
import { type Counts, finestCounts } from "../../../../../backend/services/lad/grid.ts";

test.each<[Counts, number]>([
  [[500, 500, 400], 4e6],
  [[1e8, 1, 1], 4e6],
  [[4000, 4000, 7], 4e6],
  [[3, 3, 3], 26],
  [[1, 1, 2], 1],
])("the finest grid of the shape of %j with at most %d voxels", (counts, most) => {
  const found = finestCounts(counts, most);
  const product = (of: Counts) => of[0] * of[1] * of[2];
  expect(product(found)).toBeLessThanOrEqual(most);
  for (const [axis, count] of found.entries()) expect(count).toBeLessThanOrEqual(counts[axis] ?? 0);
  const factor = Math.cbrt(most / product(counts));
  if (Math.min(...counts) * factor > 50) expect(product(found)).toBeGreaterThan(0.95 * most);
  expect(product(found)).toBeGreaterThan(0);
});

test("a grid that fits stays as it is", () => {
  expect(finestCounts([10, 20, 30], 6000)).toEqual([10, 20, 30]);
});
