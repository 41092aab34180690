import { expect, test } from "vitest";
import { footCount } from "../../../../backend/cli/run/feet.ts";

const sample = (points: readonly (readonly [number, number, number])[]) => ({
  point_count: points.length,
  total_count: points.length,
  position: Float64Array.from(points.flat()),
  rgb: undefined,
  intensity: undefined,
});
const stem = (x: number, y: number) =>
  Array.from({ length: 200 }, (_, i): [number, number, number] => [
    x + 0.2 * Math.cos(i),
    y + 0.2 * Math.sin(i),
    (i % 100) / 10,
  ]);
/** A crown over everything does not count. */
const crown = Array.from({ length: 500 }, (_, i): [number, number, number] => [(i * 0.7548) % 8, (i * 0.5698) % 8, 8]);

test.each([
  [1, [...stem(4, 4), ...crown]],
  [2, [...stem(1, 1), ...stem(6, 6), ...crown]],
  [1, [...stem(4, 4), [0, 0, 0.5] as [number, number, number]]],
  [0, []],
])("%i feet", (feet, points) => {
  expect(footCount(sample(points))).toBe(feet);
});
