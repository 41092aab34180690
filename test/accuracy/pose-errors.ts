// Poses as 4x4 matrices, row by row: their products, and how far they are from true ones.
const at = (m: readonly number[], i: number) => m[i] ?? Number.NaN;
export const placed = (m: readonly number[], [x, y, z]: readonly [number, number, number]) =>
  [0, 4, 8].map((row) => at(m, row) * x + at(m, row + 1) * y + at(m, row + 2) * z + at(m, row + 3));

/** Of a pose: angle, and the distance by which it misplaces the centre. */
export function errorsOf(
  found: readonly number[],
  truth: readonly number[],
  center: readonly [number, number, number],
) {
  let squares = 0;
  for (let row = 0; row < 3; row += 1)
    for (let column = 0; column < 3; column += 1)
      squares += (at(found, 4 * row + column) - at(truth, 4 * row + column)) ** 2;
  // |R - S|^2 = 8 sin^2(angle / 2): exact for small angles, where the trace is not.
  const degrees = (2 * Math.asin(Math.min(1, Math.sqrt(squares / 8))) * 180) / Math.PI;
  const [a, b] = [placed(found, center), placed(truth, center)];
  return { degrees, length: Math.hypot(...a.map((value, i) => value - at(b, i))) };
}

export function centroid(xyz: Float64Array): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  for (let i = 0; i < xyz.length; i += 1) sum[(i % 3) as 0 | 1 | 2] += xyz[i] ?? 0;
  return sum.map((value) => (3 * value) / xyz.length) as [number, number, number];
}

/** First b, then a. */
export const composed = (a: readonly number[], b: readonly number[]) =>
  Array.from({ length: 16 }, (_, i) =>
    [0, 1, 2, 3].reduce((sum, k) => sum + at(a, 4 * (i >> 2) + k) * at(b, 4 * k + (i & 3)), 0),
  );
