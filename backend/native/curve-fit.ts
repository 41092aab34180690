import type { NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** A compiled curve. Symbols of the program: the parameters, then the output if it is implicit, then the inputs. */
export interface CurveModel {
  /** Postfix order, operation + 256 * argument (cpp/ops/fit/expression.h). */
  readonly code: readonly number[];
  readonly constants: readonly number[];
  readonly symbol_count: number;
  readonly parameter_count: number;
  /** The program is 0 where the output lies on the curve; else it is the output. */
  readonly implicit: boolean;
}

export interface CurveData {
  /** Each of as many rows as `measured`. */
  readonly inputs: readonly (readonly number[])[];
  readonly measured: readonly number[];
}

export interface CurveFitParams {
  readonly start: readonly number[];
  readonly low: readonly number[];
  readonly high: readonly number[];
  /** 1 = the curve is linear in these parameters together. */
  readonly linear: readonly number[];
  readonly loss: "linear" | "soft_l1" | "huber" | "cauchy" | "arctan";
  /** Unit of the output; not used by the linear loss. */
  readonly loss_scale: number;
  /** Of each start. */
  readonly max_evaluations: number;
  /** When to try other starts than the given one. */
  readonly more_starts: "never" | "on_failure" | "always";
  /** Between 0 and 1. */
  readonly confidence_level: number;
  readonly profile: boolean;
}

/** What the residuals say against a fit; without the linear loss or with few rows nothing (probabilities of 1). */
export interface ResidualChecks {
  /** The row that lies farthest off the curve, in standard deviations of the others; null = none. */
  readonly outlier_row: number;
  readonly outlier_deviations: number | null;
  /** That chance puts any row so far off. */
  readonly outlier_probability: number;
  /** Stretches of residuals of one sign. */
  readonly run_count: number;
  /** That chance gives at most so many. */
  readonly run_probability: number;
}

/** Lists have an entry for each parameter; null = none. */
export interface CurveFit {
  readonly values: readonly number[];
  readonly std_errors: readonly (number | null)[];
  readonly low: readonly (number | null)[];
  readonly high: readonly (number | null)[];
  /** Empty = not asked for. */
  readonly profile_low: readonly (number | null)[];
  readonly profile_high: readonly (number | null)[];
  /** Row by row. */
  readonly correlation: readonly (number | null)[];
  /** -1 = at its lower bound, 1 = at its upper one. */
  readonly at_bound: readonly number[];
  /** 1 = the data do not determine it. */
  readonly undetermined: readonly number[];
  /** Output of the curve at each row. */
  readonly fitted: readonly number[];
  /** Of the fitted values; empty = no degrees of freedom. */
  readonly fitted_std_errors: readonly number[];
  readonly checks: ResidualChecks;
  readonly cost: number;
  /** Of a residual; null = no degrees of freedom. */
  readonly variance: number | null;
  readonly degrees: number;
  readonly end: "converged" | "evaluation_limit" | "stalled";
  readonly start_count: number;
  readonly evaluation_count: number;
}

export interface CurveFitNative {
  fitCurve(curve: CurveModel, data: CurveData, params: CurveFitParams): NativeJob<CurveFit>;
}

const addon = addonAs<CurveFitNative>();

/** Least squares within bounds. Errors: invalid_argument for a curve without a finite value at any start. */
export const fitCurve: CurveFitNative["fitCurve"] = (curve, data, params) => addon.fitCurve(curve, data, params);
