import type { CurveFit } from "../../../native/curve-fit.ts";
import { largest, smallest } from "../models/model.ts";

/** Of a thousand fits with normal residuals one is told. */
const CHANCE = 1e-3;
/** Residuals below this share of the output's range are rounding. */
const ROUNDING = 1e-7;

/**
 * What the residuals say against a fit: a row that does not belong to the curve, and a curve that the rows do not follow.
 * `nameOf`: what a row is called.
 */
export function misfitWarnings(
  { checks, fitted, variance }: CurveFit,
  measured: readonly number[],
  nameOf: (row: number) => string,
): string[] {
  if (!(Math.sqrt(variance ?? 0) > ROUNDING * (largest(measured) - smallest(measured)))) return [];
  const warnings: string[] = [];
  const { outlier_row: row, outlier_deviations: deviations } = checks;
  if (deviations !== null && checks.outlier_probability < CHANCE) {
    const [value, curve] = [measured[row] ?? Number.NaN, fitted[row] ?? Number.NaN];
    warnings.push(
      `${nameOf(row)} lies ${Math.abs(deviations).toPrecision(2)} standard deviations of the others off the curve (${shown(value)} measured, ${shown(curve)} fitted): check it; it moves the parameters and widens their intervals.`,
    );
  }
  if (checks.run_probability < CHANCE) {
    warnings.push(
      `The curve does not follow the data: the residuals of ${measured.length} rows keep their sign over ${checks.run_count} stretches, as few as chance gives in ${once(checks.run_probability)}. The intervals, which take residuals for chance, are too narrow; look for another model, a unit, or several curves in one.`,
    );
  }
  return warnings;
}

const shown = (value: number) => String(Number(value.toPrecision(4)));

function once(probability: number): string {
  const fits = Math.min(1 / probability, 1e6);
  return `one of ${fits < 1e6 ? Number(fits.toPrecision(1)).toLocaleString("en") : "a million"} fits`;
}
