import type { z } from "zod";
import type { FittedParameter } from "../../../../shared/contract/fit-custom.ts";
import type { CurveFit } from "../../../native/curve-fit.ts";
import type { CurveOptions, CurveTask, FreeParameter } from "./curve.ts";
import { misfitWarnings } from "./misfit.ts";

type Parameter = z.infer<typeof FittedParameter>;

/** Pairs of limits; null where there is none. */
const limits = (low: number | null | undefined, high: number | null | undefined): [number | null, number | null] => [
  low ?? null,
  high ?? null,
];

/** The wire form of the free parameter at `at`. */
export function fittedParameter(fit: CurveFit, at: number, symbol: string): Parameter {
  const std_error = fit.std_errors[at] ?? null;
  return {
    value: fit.values[at] ?? Number.NaN,
    std_error,
    symbol,
    fixed: false,
    interval: std_error === null ? null : limits(fit.low[at], fit.high[at]),
    ...(fit.profile_low.length > 0 ? { profile_interval: limits(fit.profile_low[at], fit.profile_high[at]) } : {}),
    at_bound: fit.at_bound[at] !== 0,
    identifiable: fit.undetermined[at] !== 1,
  };
}

/** The wire form of a parameter that was given. */
export const givenParameter = (symbol: string, value: number): Parameter => ({
  value,
  std_error: null,
  symbol,
  fixed: true,
  interval: null,
  at_bound: false,
  identifiable: true,
});

/** Figures of a fit. `keys`: those of the free parameters in the response. */
export function fitFigures(fit: CurveFit, measured: readonly number[], keys: readonly string[]) {
  const residuals = measured.map((value, row) => value - (fit.fitted[row] ?? Number.NaN));
  const mean = measured.reduce((sum, value) => sum + value / measured.length, 0);
  const total = isConstant(measured) ? 0 : measured.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const rest = residuals.reduce((sum, value) => sum + value * value, 0);
  const rows = keys.map((_, row) => keys.map((_, column) => fit.correlation[row * keys.length + column] ?? null));
  return {
    r_squared: total === 0 ? 0 : finite(1 - rest / total),
    rmse: finite(Math.sqrt(rest / measured.length)),
    loss: finite(fit.cost),
    n_points: measured.length,
    converged: fit.end === "converged",
    degrees_of_freedom: fit.degrees,
    residual_std: fit.variance === null ? null : Math.sqrt(fit.variance),
    correlation: rows,
    free_parameters: [...keys],
    fitted_std_errors: fit.fitted_std_errors.length > 0 ? [...fit.fitted_std_errors] : null,
    start_count: fit.start_count,
    evaluation_count: fit.evaluation_count,
    residuals,
  };
}

/** Then the total sum of squares is 0, which the rounding of the mean would hide. */
export const isConstant = (values: readonly number[]): boolean => values.every((value) => value === values[0]);

const finite = (value: number) => (Number.isFinite(value) ? value : null);

/** What the user must know about a fit. `nameOf`: what a row of the data is called. */
export function fitWarnings(
  fit: CurveFit,
  { parameters, measured }: Pick<CurveTask, "parameters" | "measured">,
  options: CurveOptions,
  keys: readonly string[],
  nameOf: (row: number) => string,
): string[] {
  const warnings: string[] = [];
  if (fit.end === "evaluation_limit") {
    warnings.push(
      `The fit did not converge within max_iterations ${options.max_iterations}; raise it, or choose other start values.`,
    );
  }
  if (fit.end === "stalled") {
    warnings.push(
      "The fit did not converge: no step lowers the residual sum, though the derivatives promise it; the curve may have a kink there.",
    );
  }
  parameters.forEach((parameter, at) => {
    const warning = parameterWarning(fit, at, parameter, keys[at] ?? parameter.symbol);
    if (warning) warnings.push(warning);
  });
  if (parameters.length > 0 && fit.degrees <= 0) {
    warnings.push("There are no more rows than parameters, so the parameters have no standard errors.");
  }
  if (fit.start_count > 1 && options.more_starts === "on_failure") {
    warnings.push(`The fit from the given start failed; the best of ${fit.start_count} starts is reported.`);
  }
  return [...warnings, ...misfitWarnings(fit, measured, nameOf)];
}

function parameterWarning(fit: CurveFit, at: number, { low, high }: FreeParameter, key: string): string | null {
  const side = fit.at_bound[at] ?? 0;
  if (side !== 0) {
    const bound = side < 0 ? `lower bound ${low}` : `upper bound ${high}`;
    return `"${key}" ends at its ${bound}; it has no standard error, and those of the others take it as known.`;
  }
  if (fit.undetermined[at] === 1) return `The data do not determine "${key}": other values fit them as well.`;
  const error = fit.std_errors[at] ?? 0;
  if (error <= high - low) return null;
  return `The data hardly determine "${key}": its standard error ${error.toPrecision(2)} exceeds the range of its bounds, ${low} to ${high}.`;
}
