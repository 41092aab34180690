import { AppError } from "../../../../shared/errors.ts";
import type { Table } from "./text-table.ts";

/** Columns of a table that a model uses. All have the same length. */
export interface TableColumns {
  readonly numbers: ReadonlyMap<string, readonly number[]>;
  /** Labels that separate curves; null = there is no such column. */
  readonly labels: readonly string[] | null;
  readonly warnings: readonly string[];
}

export interface WantedColumns {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /** Column with the labels of curves. */
  readonly label: string | null;
}

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "-", "#n/a"]);
const MOST_NAMED = 10;
const isBlank = (row: readonly string[]) => row.every((cell) => cell === "");
const isMissing = (cell: string | undefined) => cell === undefined || MISSING.has(cell.toLowerCase());

/** A header without its unit: "A (umol m-2 s-1)" and "A [umol]" are A. */
const plainHeader = (cell: string) => cell.replace(/\s*[([{][^)\]}]*[)\]}]\s*$/u, "").trim();

/** A finite number, with a decimal point or comma; undefined = none. */
export function numberOf(cell: string, decimalComma: boolean): number | undefined {
  const text = cell.replace("\u2212", "-");
  const isPlain = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const isComma = /^[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?$/.test(text);
  const isThousands = /^[+-]?\d{1,3},\d{3}$/.test(text); // "1,500" quoted between commas: either
  if (!isPlain && !(isComma && (decimalComma || !isThousands))) return undefined;
  const value = Number(text.replace(",", "."));
  return Number.isFinite(value) ? value : undefined;
}

/** Index of each wanted column that the header has. Errors: invalid_argument for columns that lack, or occur twice. */
function indicesOf(header: readonly string[], wanted: WantedColumns): Map<string, number> {
  const indices = new Map<string, number>();
  const labels = wanted.label === null ? [] : [wanted.label];
  for (const name of [...wanted.required, ...wanted.optional, ...labels]) {
    const found = header.flatMap((cell, at) => (cell === name || plainHeader(cell) === name ? [at] : []));
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
        .join(", ") || "none";
    throw new AppError(
      "invalid_argument",
      `the table has no column ${lacking.map((name) => `"${name}"`).join(", ")}; its columns are ${has}`,
    );
  }
  return indices;
}

/**
 * The columns that a model uses. A row of units below the header is skipped; rows with an empty cell are left out with a
 * warning. Errors: invalid_argument with row (from 1, as in a spreadsheet) and column for a cell that is no number.
 */
export function tableColumns({ rows, decimal_comma }: Table, wanted: WantedColumns): TableColumns {
  const first = rows.findIndex((row) => !isBlank(row));
  const header = rows[first];
  if (!header) throw new AppError("invalid_argument", "the table is empty");
  const indices = indicesOf(header, wanted);
  const used = [...indices].filter(([name]) => name !== wanted.label);
  const labelAt = wanted.label === null ? undefined : indices.get(wanted.label);
  const numbers = new Map<string, number[]>(used.map(([name]) => [name, []]));
  const labels: string[] = [];
  const left: number[] = [];
  let isFirst = true;
  rows.forEach((row, at) => {
    if (at <= first || isBlank(row)) return;
    const cells = used.map(([, index]) => row[index]);
    const mayBeUnits = isFirst;
    isFirst = false;
    if (mayBeUnits && cells.every((cell) => isMissing(cell) || numberOf(cell ?? "", decimal_comma) === undefined))
      return;
    if (cells.some(isMissing)) {
      left.push(at + 1);
      return;
    }
    used.forEach(([name], i) => {
      const cell = cells[i] ?? "";
      const value = numberOf(cell, decimal_comma);
      if (value === undefined) {
        throw new AppError("invalid_argument", `row ${at + 1}, column "${name}": "${cell.slice(0, 40)}" is no number`);
      }
      numbers.get(name)?.push(value);
    });
    if (labelAt !== undefined) labels.push(row[labelAt] ?? "");
  });
  if ((numbers.get(wanted.required[0] ?? "")?.length ?? 0) === 0) {
    throw new AppError("invalid_argument", "the table has no row with all values of the model");
  }
  return { numbers, labels: labelAt === undefined ? null : labels, warnings: left.length > 0 ? [leftOut(left)] : [] };
}

function leftOut(rows: readonly number[]): string {
  const named = rows.slice(0, MOST_NAMED).join(", ");
  const more = rows.length > MOST_NAMED ? ` and ${rows.length - MOST_NAMED} more` : "";
  return `Rows with an empty cell were left out: ${named}${more}.`;
}
