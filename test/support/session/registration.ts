import type { IcpSuccess } from "../../../shared/contract/icp.ts";

type Triple = readonly [number, number, number];

/** Moves flat triples by a matrix of 16 numbers, row-major. */
export function moved(matrix: readonly number[], flat: readonly number[]): number[] {
  const at = (i: number) => matrix[i] ?? Number.NaN;
  const out: number[] = [];
  for (let i = 0; i < flat.length; i += 3) {
    const [x = 0, y = 0, z = 0] = [flat[i], flat[i + 1], flat[i + 2]];
    for (let row = 0; row < 3; row += 1)
      out.push(at(4 * row) * x + at(4 * row + 1) * y + at(4 * row + 2) * z + at(4 * row + 3));
  }
  return out;
}

/** A turn about the z axis through `center`, then a shift. */
export function turnAndShift(degrees: number, center: Triple, shift: Triple): number[] {
  const [c, s] = [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];
  const [x, y] = center;
  return [
    c,
    0 - s,
    0,
    x - c * x + s * y + shift[0],
    s,
    c,
    0,
    y - s * x - c * y + shift[1],
    0,
    0,
    1,
    shift[2],
    0,
    0,
    0,
    1,
  ];
}

/** Largest distance between flat triples, metres. */
export function farthest(a: readonly number[], b: readonly number[]): number {
  let most = 0;
  for (let i = 0; i < a.length; i += 3) {
    const d = [0, 1, 2].map((k) => (a[i + k] ?? Number.NaN) - (b[i + k] ?? Number.NaN));
    most = Math.max(most, Math.hypot(...d));
  }
  return most;
}

/** The solid unit cube of n^3 points, moved by `shift`. */
export function cubePoints(n: number, shift: Triple = [0, 0, 0]): number[] {
  const points: number[] = [];
  const step = 1 / (n - 1);
  for (let i = 0; i < n; i += 1)
    for (let j = 0; j < n; j += 1)
      for (let k = 0; k < n; k += 1) points.push(i * step + shift[0], j * step + shift[1], k * step + shift[2]);
  return points;
}

/** Hilly ground of n x n points over a square of `side` metres, with a box-shaped house on it; jittered by `seed`. */
export function village(n: number, side: number, seed: number): number[] {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const points: number[] = [];
  for (let i = 0; i < n * n; i += 1) {
    const [x, y] = [random() * side, random() * side];
    const house = x > 0.3 * side && x < 0.5 * side && y > 0.4 * side && y < 0.7 * side;
    const wall = random();
    const hills = 0.03 * side * (Math.sin((7 * x) / side) + Math.cos((5 * y) / side));
    points.push(
      ...(house && wall < 0.3 ? [0.3 * side, y, hills + random() * 0.1 * side] : [x, y, house ? 0.12 * side : hills]),
    );
  }
  return points;
}

/** The matrix of an answer is a rotation and a shift, to the last digits, and `translation` its last column. */
export function rigidity({ transformation_matrix: m, translation }: IcpSuccess): number {
  const row = (i: number) => m.slice(4 * i, 4 * i + 3);
  const dots = [0, 1, 2].flatMap((i) =>
    [0, 1, 2].map((j) => row(i).reduce((sum, value, k) => sum + value * (row(j)[k] ?? 0), 0) - (i === j ? 1 : 0)),
  );
  const last = [
    m[12],
    m[13],
    m[14],
    (m[15] ?? 0) - 1,
    ...[0, 1, 2].map((i) => (m[4 * i + 3] ?? 0) - (translation[i] ?? 0)),
  ];
  return Math.max(...dots.map(Math.abs), ...last.map((value) => Math.abs(value ?? Number.NaN)));
}
