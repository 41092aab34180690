import { hasNormals, type ModelCloud, NORMALS, type Vec3 } from "./cloud.ts";

/** Row-major 4 x 4, last row 0 0 0 1. */
export type Matrix = readonly number[];

const at = (m: Matrix, r: number, c: number): number => m[4 * r + c] ?? 0;

function determinant(m: Matrix): number {
  const minor = (a: number, b: number) => at(m, 1, a) * at(m, 2, b) - at(m, 1, b) * at(m, 2, a);
  return at(m, 0, 0) * minor(1, 2) - at(m, 0, 1) * minor(0, 2) + at(m, 0, 2) * minor(0, 1);
}

export function isLegal(m: Matrix): boolean {
  if (m.length !== 16 || !m.every(Number.isFinite)) return false;
  const bottom = [0, 0, 0, 1].every((value, c) => Math.abs(at(m, 3, c) - value) <= 1e-9);
  return bottom && determinant(m) > 1e-12;
}

export function multiply(a: Matrix, b: Matrix): number[] {
  return [0, 1, 2, 3].flatMap((r) =>
    [0, 1, 2, 3].map((c) => [0, 1, 2, 3].reduce((sum, k) => sum + at(a, r, k) * at(b, k, c), 0)),
  );
}

/** The world matrix as it acts on stored coordinates. */
export function storedMatrix(m: Matrix, shift: Vec3 | null): number[] {
  const [x, y, z] = shift ?? [0, 0, 0];
  const to = [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z, 0, 0, 0, 1];
  const back = [1, 0, 0, -x, 0, 1, 0, -y, 0, 0, 1, -z, 0, 0, 0, 1];
  return multiply(back, multiply(m, to));
}

const linear = (m: Matrix, v: Vec3, r: number): number => at(m, r, 0) * v[0] + at(m, r, 1) * v[1] + at(m, r, 2) * v[2];

/** L (stored + shift) + t - shift. */
function movePoint(m: Matrix, shift: Vec3 | null, point: Vec3): Vec3 {
  const s = shift ?? [0, 0, 0];
  const world: Vec3 = [point[0] + s[0], point[1] + s[1], point[2] + s[2]];
  const moved = (r: 0 | 1 | 2) => linear(m, world, r) + at(m, r, 3) - s[r];
  return [moved(0), moved(1), moved(2)];
}

/** The factor c when the linear part is c times a rotation, else undefined. */
function similarityFactor(m: Matrix): number | undefined {
  const gram = (i: number, j: number) => [0, 1, 2].reduce((sum, k) => sum + at(m, k, i) * at(m, k, j), 0);
  const square = (gram(0, 0) + gram(1, 1) + gram(2, 2)) / 3;
  const close = [0, 1, 2].every((i) =>
    [0, 1, 2].every((j) => Math.abs(gram(i, j) - (i === j ? square : 0)) <= 1e-9 * Math.max(square, 1)),
  );
  return close ? Math.sqrt(square) : undefined;
}

export const isTranslation = (m: Matrix): boolean =>
  [0, 1, 2].every((r) => [0, 1, 2].every((c) => Math.abs(at(m, r, c) - (r === c ? 1 : 0)) <= 1e-9));

/** Inverse-transpose of the linear part, as the cofactor matrix over the determinant. */
function inverseTranspose(m: Matrix): number[] {
  const cofactor = (r: number, c: number) => {
    const [a, b] = [0, 1, 2].filter((i) => i !== r) as [number, number];
    const [p, q] = [0, 1, 2].filter((i) => i !== c) as [number, number];
    return ((r + c) % 2 === 0 ? 1 : -1) * (at(m, a, p) * at(m, b, q) - at(m, a, q) * at(m, b, p));
  };
  const det = determinant(m);
  const row = (r: number) => [cofactor(r, 0) / det, cofactor(r, 1) / det, cofactor(r, 2) / det, 0];
  return [...row(0), ...row(1), ...row(2), 0, 0, 0, 1];
}

function moveNormal(m: Matrix, rigid: boolean, normal: Vec3): Vec3 {
  if (normal.every((value) => value === 0)) return normal;
  const matrix = rigid ? m : inverseTranspose(m);
  const moved: Vec3 = [linear(matrix, normal, 0), linear(matrix, normal, 1), linear(matrix, normal, 2)];
  const length = rigid ? 1 : Math.hypot(...moved);
  return [moved[0] / length, moved[1] / length, moved[2] / length];
}

/** Geometry and everything that depends on it, for every row, deleted ones too. */
export function moveCloud(cloud: ModelCloud, m: Matrix): ModelCloud {
  const factor = similarityFactor(m);
  const rigid = factor !== undefined && Math.abs(factor - 1) <= 1e-9;
  const extras = new Map(cloud.extras);
  const inexact = new Set([...cloud.inexact, "positions", "origins"]);
  if (hasNormals(cloud) && !isTranslation(m)) {
    // A translation turns no normal: what was derived from them stays as well.
    const column = (slug: string) => cloud.extras.get(slug) ?? [];
    const [xs, ys, zs] = [column("nx"), column("ny"), column("nz")];
    const moved = xs.map((x, row) => moveNormal(m, rigid, [x, ys[row] ?? 0, zs[row] ?? 0]));
    NORMALS.forEach((slug, axis) => {
      extras.set(
        slug,
        moved.map((normal) => normal[axis] ?? 0),
      );
      inexact.add(slug);
    });
    if (extras.has("verticality")) {
      const degrees = ([, , z]: Vec3) => (Math.acos(Math.min(1, Math.abs(z))) * 180) / Math.PI;
      extras.set("verticality", moved.map(degrees));
      inexact.add("verticality");
    }
  }
  const distance = extras.get("distance");
  if (distance && factor !== undefined && !rigid) {
    extras.set(
      "distance",
      distance.map((value) => value * factor),
    );
    inexact.add("distance");
  }
  return {
    ...cloud,
    positions: cloud.positions.map((point) => movePoint(m, cloud.shift, point)),
    origins: cloud.origins?.map((point) => movePoint(m, cloud.shift, point)) ?? null,
    extras,
    normalsStale: factor === undefined && hasNormals(cloud) ? true : cloud.normalsStale,
    inexact,
  };
}
