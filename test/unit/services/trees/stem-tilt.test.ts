import { expect, test } from "vitest";
import { type StemAxis, stemTiltWarnings } from "../../../../backend/services/trees/stem-tilt.ts";

const even = (i: number, step: number) => (i * step) % 1;

/** Axes that lean by `tilt` degrees towards `azimuth` and up to `spread` degrees about that. */
function stand(count: number, tilt: number, azimuth: number, spread: number): StemAxis[] {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  return Array.from({ length: count }, (_, i) => {
    const at = (lean: number, to: number) =>
      [Math.tan(radians(lean)) * Math.sin(radians(to)), Math.tan(radians(lean)) * Math.cos(radians(to))] as const;
    const [a, b] = [at(tilt, azimuth), at(spread * even(i, 0.7548776662), 360 * even(i, 0.5698402909))];
    const [x, y] = [a[0] + b[0], a[1] + b[1]];
    const length = Math.hypot(x, y, 1);
    return [x / length, y / length, 1 / length];
  });
}

test("stems that all lean to one side are told, with the rotation that sets them upright", () => {
  const axes = stand(20, 6, 130, 2);
  const [warning = ""] = stemTiltWarnings(axes);
  expect(warning).toMatch(
    /^The 20 stems with a diameter lean by (5\.[5-9]|6\.[0-5])° in the mean, towards 1[23]\d° from \+y/,
  );
  const m = /matrix \[([^\]]*)\]/.exec(warning)?.[1]?.split(", ").map(Number) ?? [];
  expect(m).toHaveLength(16);
  const turned = axes.map((axis) =>
    [0, 1].map((row) => [0, 1, 2].reduce((sum, k) => sum + (m[4 * row + k] ?? 0) * (axis[k] ?? 0), 0)),
  );
  for (const row of [0, 1])
    expect(turned.reduce((sum, values) => sum + (values[row] ?? 0), 0) / axes.length).toBeCloseTo(0, 3);
  expect((m[0] ?? 0) * (m[5] ?? 0) - (m[1] ?? 0) * (m[4] ?? 0)).toBeCloseTo(m[10] ?? 0, 5);
});

test("few stems, little lean, and leans to all sides are not", () => {
  expect(stemTiltWarnings([])).toEqual([]);
  expect(stemTiltWarnings(stand(7, 8, 0, 1))).toEqual([]);
  expect(stemTiltWarnings(stand(20, 2, 0, 1))).toEqual([]);
  expect(stemTiltWarnings(stand(40, 0, 0, 15))).toEqual([]);
  expect(stemTiltWarnings(stand(8, 3.2, 0, 40))).toEqual([]);
});
