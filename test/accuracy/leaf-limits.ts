// What no unbiased inversion of a leaf spectrum can fall below (Cramer-Rao).
import type { LeafSpectrum } from "../../backend/native/leaf-optics.ts";

/** Inverse of a symmetric positive definite matrix, by Gauss-Jordan elimination of its scaled form. */
function inverse(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const unit = matrix.map((row, i) => 1 / Math.sqrt(row[i] ?? Number.NaN));
  const rows = matrix.map((row, i) => [
    ...row.map((value, j) => value * (unit[i] ?? 0) * (unit[j] ?? 0)),
    ...Array.from({ length: n }, (_, j) => (i === j ? 1 : 0)),
  ]);
  for (let pivot = 0; pivot < n; pivot++) {
    const own = rows[pivot] ?? [];
    const factor = 1 / (own[pivot] ?? Number.NaN);
    for (let j = 0; j < 2 * n; j++) own[j] = (own[j] ?? 0) * factor;
    for (const [i, row] of rows.entries()) {
      if (i === pivot) continue;
      const times = row[pivot] ?? 0;
      for (let j = 0; j < 2 * n; j++) row[j] = (row[j] ?? 0) - times * (own[j] ?? 0);
    }
  }
  return rows.map((row, i) => row.slice(n).map((value, j) => value * (unit[i] ?? 0) * (unit[j] ?? 0)));
}

/** Variances of the estimates of some traits from the whole reflectance, all of them free. */
export function leastVariances(
  { reflectance, reflectance_slope }: LeafSpectrum,
  traits: readonly number[],
  variance: (reflectance: number) => number,
): number[] {
  const information = traits.map((a) =>
    traits.map((b) =>
      reflectance.reduce(
        (sum, value, i) =>
          sum + ((reflectance_slope[a]?.[i] ?? 0) * (reflectance_slope[b]?.[i] ?? 0)) / variance(value),
        0,
      ),
    ),
  );
  return inverse(information).map((row, i) => row[i] ?? Number.NaN);
}
