import type { Quantity } from "../quantities/quantity.ts";

/** Columns of a table by name. */
export type Columns = ReadonlyMap<string, readonly number[]>;

/** Values of all parameters by symbol. */
export interface ParameterValues extends ReadonlyMap<string, number> {
  /** Those that were fitted: nothing is said of known ones. */
  readonly fitted: ReadonlySet<string>;
}

/** Values of all parameters, of which `fitted` were not given. */
export const parameterValues = (values: ReadonlyMap<string, number>, fitted: Iterable<string>): ParameterValues =>
  Object.assign(new Map(values), { fitted: new Set(fitted) });

export interface ModelParameter {
  /** ASCII. */
  readonly symbol: string;
  /** Meaning and unit. */
  readonly description: string;
  readonly low: number;
  readonly high: number;
}

/** Data that a model uses. */
export interface ModelColumn {
  readonly name: string;
  readonly description: string;
  /** Absent = any unit. */
  readonly quantity?: Quantity;
}

/** Data that a model uses if they are there. */
export interface OptionalColumn extends ModelColumn {
  /** Value where the column is absent; null = it is fitted, or only separates curves. */
  readonly value: number | null;
  /** The parameters depend on the value, so that the user must know of it. */
  readonly is_told?: true;
}

/** A built-in model of a curve. */
export interface CurveModelEntry {
  readonly id: string;
  readonly name: string;
  /** Columns, the output included. */
  readonly required: readonly ModelColumn[];
  readonly optional?: readonly OptionalColumn[];
  readonly output: string;
  /** The output as an expression of columns, derived columns and parameters. */
  readonly equation: string;
  /** The equation for people, where the one that is evaluated is long. */
  readonly shown_equation?: string;
  readonly parameters: readonly ModelParameter[];
  /** Further columns of the equation. */
  readonly derived?: (columns: Columns) => ReadonlyMap<string, readonly number[]>;
  /** Start values from the data; bounds that depend on them. Errors: invalid_argument for data that the model has no value for. */
  readonly starts: (columns: Columns) => Readonly<Record<string, number>>;
  readonly bounds?: (columns: Columns) => Readonly<Record<string, readonly [number, number]>>;
  /** What a user must know of a fit of this model, from its columns and the values of all parameters. */
  readonly remarks?: (columns: Columns, values: ParameterValues) => string[];
  /** The residual sum has local minima: other starts are always tried. */
  readonly has_local_minima?: true;
  readonly source: string;
}

/** All columns of a model. */
export const modelData = ({ required, optional = [] }: CurveModelEntry): readonly ModelColumn[] => [
  ...required,
  ...optional,
];

/** The equation for people. */
export const shownEquation = ({ equation, shown_equation }: CurveModelEntry): string => shown_equation ?? equation;

/** A column that the reader of the table has made sure of. */
export function column(columns: Columns, name: string): readonly number[] {
  const values = columns.get(name);
  if (!values) throw new Error(`the model has no column ${name}`);
  return values;
}

export const largest = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), -Infinity);
export const smallest = (values: readonly number[]): number => values.reduce((a, b) => Math.min(a, b), Infinity);
export const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value / values.length, 0);

/** Ranks from 0, those of equal values their mean. */
function ranks(values: readonly number[]): number[] {
  const rows = values.map((_, row) => row).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const out = new Array<number>(values.length).fill(0);
  for (let first = 0; first < rows.length; ) {
    let end = first + 1;
    while (end < rows.length && values[rows[end] ?? 0] === values[rows[first] ?? 0]) end += 1;
    for (let at = first; at < end; at += 1) out[rows[at] ?? 0] = (first + end - 1) / 2;
    first = end;
  }
  return out;
}

/** Rank correlation of two columns, -1 to 1; NaN if one is constant (Spearman). */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranks(a), ranks(b)];
  const middle = (a.length - 1) / 2;
  const sum = (of: (row: number) => number) => x.reduce((total, _, row) => total + of(row), 0);
  const [dx, dy] = [(row: number) => (x[row] ?? 0) - middle, (row: number) => (y[row] ?? 0) - middle];
  return sum((row) => dx(row) * dy(row)) / Math.sqrt(sum((row) => dx(row) ** 2) * sum((row) => dy(row) ** 2));
}

/** The entry of `of` in the row where `at` is nearest to `value`. */
export function nearestRow(at: readonly number[], value: number): number {
  let best = 0;
  at.forEach((entry, row) => {
    if (Math.abs(entry - value) < Math.abs((at[best] ?? Infinity) - value)) best = row;
  });
  return best;
}
