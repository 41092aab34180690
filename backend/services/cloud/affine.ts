import { AppError } from "../../../shared/errors.ts";
import type { Triple } from "../../sessions/column-names.ts";

/** p' = A p + b: rows of [A | b], 12 numbers, row-major. */
export type Affine = readonly number[];

export interface Motion {
  /** In the stored frame. */
  readonly stored: Affine;
  /** A = c R: preserves angles. */
  readonly is_similarity: boolean;
  /** The factor c of a similarity, 1 for a rigid motion; of others the mean one. */
  readonly scale: number;
  /** Largest difference between A^T A / c^2 and the identity: 0 for a similarity. */
  readonly deviation: number;
  /** Factor of heights where vertical lines stay vertical, A e_z = (0, 0, factor); null where they do not. */
  readonly vertical_scale: number | null;
  /** A = I: a pure translation by `delta` metres. */
  readonly is_translation: boolean;
  readonly delta: Triple;
}

const TOLERANCE = 1e-9;
/** Tangent of the tilt up to which heights are kept: 1 cm in 100 m. */
const UPRIGHT_TANGENT = 1e-4;
const MIN_DETERMINANT = 1e-12;
/** float64 has steps of 2 um here; a mistyped larger translation would merge points for good. */
const MAX_TRANSLATION_M = 1e10;
/** Kilometres to millimetres. */
const MAX_FACTOR = 1e6;

/**
 * Converts a motion of the true world to the stored frame: stored' = A (stored + shift) + t - shift.
 * `matrix`: 4 x 4, row-major. Errors: invalid_argument naming the rule.
 */
export function motionOf(matrix: readonly number[], shift: Triple | null): Motion {
  checkMatrix(matrix);
  const m = (row: number, column: number) => matrix[4 * row + column] ?? 0;
  const a = [0, 1, 2].map((row) => [m(row, 0), m(row, 1), m(row, 2)] as const);
  const moved = shift ?? [0, 0, 0];
  // (A - I) shift + t: the difference first, so that a pure translation stays exactly its t.
  const b = [0, 1, 2].map((row) => {
    const turned = [0, 1, 2].reduce((sum, k) => sum + ((a[row]?.[k] ?? 0) - (row === k ? 1 : 0)) * (moved[k] ?? 0), 0);
    return turned + m(row, 3);
  }) as unknown as Triple;
  const gram = [0, 1, 2].map((i) =>
    [0, 1, 2].map((j) => a.reduce((sum, row) => sum + (row[i] ?? 0) * (row[j] ?? 0), 0)),
  );
  const c2 = ((gram[0]?.[0] ?? 0) + (gram[1]?.[1] ?? 0) + (gram[2]?.[2] ?? 0)) / 3;
  const near = (value: number, target: number) => Math.abs(value - target) <= TOLERANCE * Math.max(c2, 1);
  const is_similarity = gram.every((row, i) => row.every((value, j) => near(value, i === j ? c2 : 0)));
  const scale = Math.sqrt(c2);
  return {
    stored: a.flatMap((row, i) => [...row, b[i] ?? 0]),
    is_similarity,
    deviation: Math.max(...gram.flatMap((row, i) => row.map((value, j) => Math.abs(value / c2 - (i === j ? 1 : 0))))),
    vertical_scale: verticalScale(a),
    scale: is_similarity && Math.abs(scale - 1) <= TOLERANCE ? 1 : scale,
    is_translation: a.every((row, i) => row.every((value, j) => Math.abs(value - (i === j ? 1 : 0)) <= TOLERANCE)),
    delta: b,
  };
}

function verticalScale(a: readonly (readonly [number, number, number])[]): number | null {
  const [x, y, z] = [a[0]?.[2] ?? 0, a[1]?.[2] ?? 0, a[2]?.[2] ?? 0];
  return z > 0 && Math.hypot(x, y) <= UPRIGHT_TANGENT * z ? z : null;
}

function checkMatrix(matrix: readonly number[]): void {
  const wrong = (rule: string) => new AppError("invalid_argument", `matrix ${rule}`);
  if (matrix.length !== 16) throw wrong(`must be 16 numbers (4 x 4, row-major), not ${matrix.length}`);
  const strange = matrix.findIndex((value) => !Number.isFinite(value)); // a NaN in JSON arrives as null
  if (strange >= 0)
    throw wrong(`must hold finite numbers only; number ${strange + 1} of 16 is ${String(matrix[strange])}`);
  const last = matrix.slice(12);
  if (last.some((value, i) => Math.abs(value - (i === 3 ? 1 : 0)) > TOLERANCE)) {
    throw wrong(`must end with the row 0 0 0 1, not ${last.join(" ")}: a perspective cannot be baked into points`);
  }
  for (const [i, value] of matrix.slice(0, 12).entries()) {
    const limit = i % 4 === 3 ? MAX_TRANSLATION_M : MAX_FACTOR;
    if (Math.abs(value) > limit) {
      throw wrong(
        `has ${value} as number ${i + 1} of 16: at most ${limit} is possible, or the points would lose their digits`,
      );
    }
  }
  const det = determinant(matrix);
  if (!(det > MIN_DETERMINANT)) {
    throw wrong(
      `has a 3 x 3 part of determinant ${det}; it must be above ${MIN_DETERMINANT}: no mirroring, no flattening`,
    );
  }
}

function determinant(matrix: readonly number[]): number {
  const m = (row: number, column: number) => matrix[4 * row + column] ?? 0;
  return (
    m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1)) -
    m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0)) +
    m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0))
  );
}

/** The (3, 3) part, row-major. */
export const linearPart = (affine: Affine): number[] => [0, 1, 2].flatMap((row) => affine.slice(4 * row, 4 * row + 3));

export function apply(affine: Affine, [x, y, z]: Triple): Triple {
  const row = (i: number) =>
    (affine[4 * i] ?? 0) * x + (affine[4 * i + 1] ?? 0) * y + (affine[4 * i + 2] ?? 0) * z + (affine[4 * i + 3] ?? 0);
  return [row(0), row(1), row(2)];
}

/** `motion` applied after `pose` (16 numbers, null = identity): 4 x 4, row-major. */
export function composed(motion: Affine, pose: readonly number[] | null): number[] {
  const before = pose ?? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const after = [...motion, 0, 0, 0, 1];
  return Array.from({ length: 16 }, (_, at) => {
    const row = Math.floor(at / 4);
    const column = at % 4;
    return [0, 1, 2, 3].reduce((sum, k) => sum + (after[4 * row + k] ?? 0) * (before[4 * k + column] ?? 0), 0);
  });
}
