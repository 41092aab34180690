import type { CustomFitRequest } from "../../../../shared/contract/fit-custom.ts";
import { AppError } from "../../../../shared/errors.ts";
import { DEFAULT_FIT_BOUND } from "../../../../shared/limits.ts";
import type { CurveOptions, CurveTask, FreeParameter } from "./curve.ts";

/** A curve, and what its parameters are called in the response. */
export interface NamedTask {
  readonly task: CurveTask;
  readonly equation: string;
  /** When other starts are tried, unless the request forbids them; absent = on failure. */
  readonly restarts?: CurveOptions["more_starts"];
  /** Keys of the free parameters, in their order. */
  readonly keys: readonly string[];
  /** Parameters that were given, by key. */
  readonly given: ReadonlyMap<string, { readonly symbol: string; readonly value: number }>;
  /** What the data say before the fit, and what the values of the parameters say after it. */
  readonly warnings?: readonly string[];
  readonly remarks?: (values: ReadonlyMap<string, number>, fitted: readonly string[]) => string[];
  /** Order of all keys in the response. */
  readonly order: readonly string[];
}

type Parameter = CustomFitRequest["parameters"][number];

/** Start and bounds of a free parameter. Errors: invalid_argument for bounds that cross or leave the start outside. */
export function freeParameter(parameter: Parameter, symbol: string): FreeParameter {
  const { name, default: start, boundsLow, boundsHigh } = parameter;
  const low = boundsLow ?? -DEFAULT_FIT_BOUND;
  const high = boundsHigh ?? DEFAULT_FIT_BOUND;
  if (!(low < high)) {
    throw new AppError(
      "invalid_argument",
      `parameter "${name}": boundsLow ${low} does not lie below boundsHigh ${high}; set fixed for a known value`,
    );
  }
  if (start < low || start > high) {
    throw new AppError("invalid_argument", `parameter "${name}": its default ${start} lies outside ${low} to ${high}`);
  }
  return { symbol, start, low, high };
}

/** A column of the request. Errors: invalid_argument if it is not there. */
function columnOf({ column_mappings, data }: CustomFitRequest, key: string): readonly number[] | undefined {
  const column = Object.hasOwn(column_mappings, key) ? column_mappings[key] : undefined;
  return column !== undefined && Object.hasOwn(data, column) ? data[column] : undefined;
}

/** The first output with a column, and its values. */
export function outputColumn(request: CustomFitRequest): {
  readonly symbol: string;
  readonly values: readonly number[];
} {
  for (const { symbol } of request.outputs) {
    const values = columnOf(request, `output_${symbol}`);
    if (values) return { symbol, values };
  }
  throw new AppError(
    "invalid_argument",
    'No output column: column_mappings needs "output_<symbol>" with the name of a column in data',
  );
}

/** The column of an input. */
export function inputColumn(request: CustomFitRequest, symbol: string, name: string): readonly number[] {
  const values = columnOf(request, `input_${symbol}`);
  if (!values) throw new AppError("invalid_argument", `Missing data for input '${name}'`);
  return values;
}

/** Errors: invalid_argument for columns of different length, and empty ones. */
export function checkLengths(measured: readonly number[], inputs: ReadonlyMap<string, readonly number[]>): void {
  if (measured.length === 0) throw new AppError("invalid_argument", "The output column has no values");
  for (const [symbol, values] of inputs) {
    if (values.length === measured.length) continue;
    throw new AppError(
      "invalid_argument",
      `the column of input "${symbol}" has ${values.length} values, that of the output ${measured.length}`,
    );
  }
}
