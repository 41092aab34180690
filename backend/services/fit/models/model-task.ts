import type { CurveTask, FreeParameter } from "../curves/curve.ts";
import { parseExpression } from "../expression/parse.ts";
import type { Columns, CurveModelEntry } from "./model.ts";

/** Columns that separate curves and are no data of the equation. */
export const CURVE_COLUMN = "CurveID";

/** When a model is fitted from other starts too. */
export const restartsOf = ({ has_local_minima }: CurveModelEntry) => (has_local_minima ? "always" : "on_failure");

/** Columns of a model's equation, with the values of absent optional ones. */
export function modelColumns(model: CurveModelEntry, given: Columns): Columns {
  const rows = given.get(model.output)?.length ?? 0;
  const columns = new Map(model.required.map(({ name }) => [name, given.get(name) ?? []]));
  for (const { name, value } of model.optional ?? []) {
    if (name === CURVE_COLUMN) continue;
    const column = given.get(name);
    if (column) columns.set(name, column);
    else if (value !== null) columns.set(name, new Array<number>(rows).fill(value));
  }
  return columns;
}

/** Tells values that were taken where a column is absent; `from`: what lacks it. */
export const assumedValues = (model: CurveModelEntry, given: Columns, from: "table" | "request"): string[] =>
  (model.optional ?? []).flatMap(({ name, value, quantity, is_told }) =>
    is_told && value !== null && !given.has(name)
      ? [`The ${from} has no ${name}; ${value} ${quantity?.unit ?? ""} was taken for every row.`]
      : [],
  );

/** Parameters of a model with their starts; those that a column gives are not among them. */
export function modelParameters(model: CurveModelEntry, columns: Columns): FreeParameter[] {
  const starts = model.starts(columns);
  const bounds = model.bounds?.(columns) ?? {};
  return model.parameters
    .filter(({ symbol }) => !columns.has(symbol))
    .map(({ symbol, low, high }) => {
      const [least, most] = bounds[symbol] ?? [low, high];
      const start = Math.min(Math.max(starts[symbol] ?? 0, least), most);
      return { symbol, start, low: least, high: most };
    });
}

/** The task of fitting a model; parameters in `constants` are known. */
export function modelTask(
  model: CurveModelEntry,
  columns: Columns,
  parameters: readonly FreeParameter[],
  constants: ReadonlyMap<string, number>,
): CurveTask {
  const inputs = new Map([...columns, ...(model.derived?.(columns) ?? [])]);
  const measured = inputs.get(model.output) ?? [];
  inputs.delete(model.output);
  return { equation: parseExpression(model.equation), implicit_output: null, parameters, constants, inputs, measured };
}
