import { AppError } from "../../../../shared/errors.ts";

export interface WantedColumns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Column with the labels of curves. */
  readonly label: string | null;
}

const IN_BRACKETS = /\s*[([{]([^)\]}]*)[)\]}]\s*$/u;
/** Longer cells name no column. */
const LONGEST = 200;
/** A header without its unit: "A (umol m-2 s-1)" and "A [umol]" are A. */
const plainHeader = (cell: string) => (cell.length > LONGEST ? cell : cell.replace(IN_BRACKETS, "").trim());
/** What stands in brackets after the name of a column; "" = nothing. */
export const unitOfHeader = (cell: string): string =>
  cell.length > LONGEST ? "" : (IN_BRACKETS.exec(cell)?.[1]?.trim() ?? "");
const isNamed = (cell: string, name: string) => cell === name || plainHeader(cell) === name;
/** Instruments write some dozen rows about themselves first. */
export const MOST_ROWS_ABOVE = 300;

/** Whether a row has the names of all required columns. */
export const isHeader = (row: readonly string[], required: readonly string[]): boolean =>
  required.every((name) => row.some((cell) => isNamed(cell, name)));

/** The row with the names of the columns: the first that has all required ones, else the first that is not blank; -1 = none. */
export function headerRow(rows: readonly (readonly string[])[], { required }: WantedColumns): number {
  const found = rows.slice(0, MOST_ROWS_ABOVE).findIndex((row) => isHeader(row, required));
  return found >= 0 ? found : rows.findIndex((row) => row.some((cell) => cell !== ""));
}

/** Index of each wanted column that the header has. Errors: invalid_argument for columns that lack, or occur twice. */
export function indicesOf(header: readonly string[], wanted: WantedColumns): Map<string, number> {
  const indices = new Map<string, number>();
  const labels = wanted.label === null ? [] : [wanted.label];
  for (const name of [...wanted.required, ...wanted.optional, ...labels]) {
    const found = header.flatMap((cell, at) => (isNamed(cell, name) ? [at] : []));
    const [first] = found;
    if (found.length > 1) throw new AppError("invalid_argument", `the table has ${found.length} columns "${name}"`);
    if (first !== undefined) indices.set(name, first);
  }
  const lacking = wanted.required.filter((name) => !indices.has(name));
  if (lacking.length > 0) {
    const has =
      header
        .filter((cell) => cell !== "")
        .slice(0, 30)
        .map((cell) => cell.slice(0, 60))
        .join(", ") || "none";
    throw new AppError(
      "invalid_argument",
      `the table has no column ${lacking.map((name) => `"${name}"`).join(", ")}; its columns are ${has}`,
    );
  }
  return indices;
}

/** The unit that the header of a column states, if it does. */
export const statedIn = (name: string, header: string): [string, string][] => {
  const unit = header === name ? "" : unitOfHeader(header);
  return unit === "" ? [] : [[name, unit]];
};
