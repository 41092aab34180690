import { AppError } from "../../../../shared/errors.ts";
import { MAX_FIT_PARAMETERS } from "../../../../shared/limits.ts";
import type { Job } from "../../../jobs/job.ts";
import { type CurveFit, type CurveFitParams, fitCurve } from "../../../native/curve-fit.ts";
import { compileExpression } from "../expression/compile.ts";
import { linearNames, namesIn } from "../expression/linearity.ts";
import type { Expression } from "../expression/tree.ts";

/** A parameter that is fitted. */
export interface FreeParameter {
  readonly symbol: string;
  readonly start: number;
  readonly low: number;
  readonly high: number;
}

/** A curve, its data and its parameters. All columns have the same length. */
export interface CurveTask {
  readonly equation: Expression;
  /** Symbol of the output, which an implicit equation contains; null = the equation is the output. */
  readonly implicit_output: string | null;
  readonly parameters: readonly FreeParameter[];
  readonly constants: ReadonlyMap<string, number>;
  readonly inputs: ReadonlyMap<string, readonly number[]>;
  readonly measured: readonly number[];
}

export type CurveOptions = Pick<
  CurveFitParams,
  "loss" | "loss_scale" | "more_starts" | "confidence_level" | "profile"
> & { readonly max_iterations: number };

const EVALUATIONS_PER_ITERATION = 10;

/**
 * Fits the parameters of a curve. Errors: invalid_argument for a name in the equation that stands for nothing, for more
 * parameters than MAX_FIT_PARAMETERS; internal "Fitting failed" for a curve without a finite value at any start.
 */
export async function runCurveFit(task: CurveTask, options: CurveOptions, job: Job): Promise<CurveFit> {
  const { equation, implicit_output, parameters, constants, inputs, measured } = task;
  const { max_iterations, ...params } = options;
  if (parameters.length > MAX_FIT_PARAMETERS) {
    throw new AppError(
      "invalid_argument",
      `${parameters.length} parameters are free, more than ${MAX_FIT_PARAMETERS}; fix some of them`,
    );
  }
  if (params.profile && params.loss !== "linear") {
    throw new AppError("invalid_argument", `profile intervals need the loss "linear", not "${params.loss}"`);
  }
  checkImplicit(task);
  const free = parameters.map(({ symbol }) => symbol);
  const symbols = [...free, ...(implicit_output === null ? [] : [implicit_output]), ...inputs.keys()];
  const program = compileExpression(equation, {
    symbols: new Map(symbols.map((symbol, at) => [symbol, at])),
    constants,
  });
  const linear = linearNames(equation, free);
  const isImplicit = implicit_output !== null;
  const start = () =>
    fitCurve(
      { ...program, symbol_count: symbols.length, parameter_count: free.length, implicit: isImplicit },
      { inputs: [...inputs.values()], measured },
      {
        ...params,
        start: parameters.map(({ start }) => start),
        low: parameters.map(({ low }) => low),
        high: parameters.map(({ high }) => high),
        linear: free.map((symbol) => (!isImplicit && linear.has(symbol) ? 1 : 0)),
        max_evaluations: EVALUATIONS_PER_ITERATION * max_iterations,
      },
    );
  try {
    return await job.track(start);
  } catch (raw) {
    if (!(raw instanceof AppError) || raw.code !== "invalid_argument") throw raw;
    throw new AppError("internal", `Fitting failed: ${raw.message}`); // the contract's status for a fit that fails
  }
}

function checkImplicit({ equation, implicit_output }: CurveTask): void {
  if (implicit_output === null || namesIn(equation).has(implicit_output)) return;
  throw new AppError(
    "invalid_argument",
    `an implicit equation must contain its output "${implicit_output}": it is 0 where the output lies on the curve`,
  );
}
