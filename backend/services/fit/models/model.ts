/** Columns of a table by name. */
export type Columns = ReadonlyMap<string, readonly number[]>;

export interface ModelParameter {
  /** ASCII. */
  readonly symbol: string;
  /** Meaning and unit. */
  readonly description: string;
  readonly low: number;
  readonly high: number;
}

/** Data that a model uses if they are there. */
export interface OptionalColumn {
  readonly name: string;
  readonly description: string;
  /** Value where the column is absent; null = it is fitted, or only separates curves. */
  readonly value: number | null;
}

/** A built-in model of a curve. */
export interface CurveModelEntry {
  readonly id: string;
  readonly name: string;
  /** Columns, the output included. */
  readonly required: readonly { readonly name: string; readonly description: string }[];
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
  /** The residual sum has local minima: other starts are always tried. */
  readonly has_local_minima?: true;
  readonly source: string;
}

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

/** The entry of `of` in the row where `at` is nearest to `value`. */
export function nearestRow(at: readonly number[], value: number): number {
  let best = 0;
  at.forEach((entry, row) => {
    if (Math.abs(entry - value) < Math.abs((at[best] ?? Infinity) - value)) best = row;
  });
  return best;
}
