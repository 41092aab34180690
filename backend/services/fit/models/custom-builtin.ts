import type { CustomFitRequest } from "../../../../shared/contract/fit-custom.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { FreeParameter } from "../curves/curve.ts";
import { checkLengths, freeParameter, inputColumn, type NamedTask, outputColumn } from "../curves/named-task.ts";
import { symbolName } from "../curves/symbols.ts";
import { doubtfulValues, inModelUnits } from "../quantities/model-units.ts";
import { unitOfHeader } from "../table/header.ts";
import { modelOf } from "./catalogue.ts";
import { type Columns, type CurveModelEntry, modelData, parameterValues, shownEquation } from "./model.ts";
import { assumedValues, CURVE_COLUMN, modelColumns, modelParameters, modelTask, restartsOf } from "./model-task.ts";

/**
 * The task of a request for a built-in model: its columns are the inputs and the output of the same symbol or name.
 * Errors: invalid_argument.
 */
export function builtinFit(request: CustomFitRequest): NamedTask {
  if (request.model_id === null) throw new AppError("invalid_argument", "a built-in model needs its model_id");
  if (request.equation_type === "implicit") {
    throw new AppError("invalid_argument", "built-in models are explicit; leave equation_type out");
  }
  const model = modelOf(request.model_id);
  const given_columns = givenColumns(request, model);
  const columns = modelColumns(model, given_columns);
  const warnings = [
    ...doubtfulValues(model, columns),
    ...statedUnits(request, model, given_columns),
    ...assumedValues(model, given_columns, "request"),
  ];
  const wished = new Map(request.parameters.map((parameter) => [symbolOf(parameter, model), parameter]));
  const constants = new Map<string, number>();
  const free: FreeParameter[] = [];
  const keys: string[] = [];
  const given = new Map<string, { symbol: string; value: number }>();
  const order: string[] = [];
  for (const own of modelParameters(model, columns)) {
    const parameter = wished.get(own.symbol);
    const key = parameter?.name ?? own.symbol;
    order.push(key);
    if (parameter?.fixed) {
      const value = parameter.fixedValue ?? parameter.default;
      constants.set(own.symbol, value);
      given.set(key, { symbol: own.symbol, value });
    } else {
      free.push(parameter ? withWishes(own, parameter) : own);
      keys.push(key);
    }
  }
  if (new Set(order).size < order.length) {
    throw new AppError("invalid_argument", "two parameters have the same name; rename one");
  }
  const task = modelTask(model, columns, free, constants);
  const remarks = (values: ReadonlyMap<string, number>, fitted: readonly string[]) =>
    model.remarks?.(columns, parameterValues(values, fitted)) ?? [];
  return { task, equation: shownEquation(model), restarts: restartsOf(model), keys, given, order, warnings, remarks };
}

/** Start and bounds of the request, and the model's where it has none. */
function withWishes(own: FreeParameter, parameter: CustomFitRequest["parameters"][number]): FreeParameter {
  const bounded = {
    ...parameter,
    boundsLow: Math.max(parameter.boundsLow ?? own.low, own.low),
    boundsHigh: Math.min(parameter.boundsHigh ?? own.high, own.high),
  };
  return freeParameter(bounded, own.symbol);
}

function symbolOf({ name, symbol }: CustomFitRequest["parameters"][number], model: CurveModelEntry): string {
  const plain = symbolName(symbol, `parameter "${name}"`);
  if (model.parameters.some((parameter) => parameter.symbol === plain)) return plain;
  const known = model.parameters.map((parameter) => parameter.symbol).join(", ");
  throw new AppError("invalid_argument", `the model "${model.id}" has no parameter "${plain}"; it has ${known}`);
}

/**
 * Units that the names of columns state. The answer has the output as it was sent, so nothing is converted here. Errors:
 * invalid_argument for columns in other units than the model's.
 */
function statedUnits(request: CustomFitRequest, model: CurveModelEntry, given: Columns): readonly string[] {
  const mapped = new Map(
    [...request.inputs, ...request.outputs].flatMap(({ name, symbol }) => {
      const key = request.inputs.some((input) => input.symbol === symbol) ? `input_${symbol}` : `output_${symbol}`;
      const unit = unitOfHeader(request.column_mappings[key] ?? "");
      return unit === "" ? [] : [symbol, name].map((known) => [known, unit] as const);
    }),
  );
  const { columns, warnings } = inModelUnits(model, given, mapped);
  for (const [name, values] of columns) {
    if (values === given.get(name)) continue;
    const quantity = modelData(model).find((data) => data.name === name)?.quantity;
    throw new AppError(
      "invalid_argument",
      `the column of "${name}" states ${mapped.get(name)}, and the model takes ${quantity?.unit}; convert its values, and name the column so`,
    );
  }
  return warnings;
}

/** Columns of the request that the model knows. */
function givenColumns(request: CustomFitRequest, model: CurveModelEntry): Map<string, readonly number[]> {
  const measured = outputColumn(request).values;
  const columns = new Map<string, readonly number[]>();
  const find = (name: string) =>
    request.inputs.find(({ symbol }) => symbol === name) ?? request.inputs.find((input) => input.name === name);
  for (const { name } of model.required) {
    if (name !== model.output) columns.set(name, inputColumn(request, find(name)?.symbol ?? name, name));
  }
  for (const { name } of model.optional ?? []) {
    const input = find(name);
    if (!input) continue;
    if (name === CURVE_COLUMN) {
      throw new AppError("invalid_argument", "one request fits one curve; send several curves to /api/fit");
    }
    columns.set(name, inputColumn(request, input.symbol, name));
  }
  checkLengths(measured, columns);
  columns.set(model.output, measured);
  return columns;
}
