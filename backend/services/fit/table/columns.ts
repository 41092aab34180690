import { AppError } from "../../../../shared/errors.ts";
import type { Table } from "./text-table.ts";

/** Columns of a table that a model uses. All have the same length. */
export interface TableColumns {
  readonly numbers: ReadonlyMap<string, readonly number[]>;
  /** Labels that separate curves; null = there is no such column. */
  readonly labels: readonly string[] | null;
  /** Units that the header or the row below it states, as written there, by column. */
  readonly units: ReadonlyMap<string, string>;
  /** Row of each value in the table, from 1, as in a spreadsheet. */
  readonly rows: readonly number[];
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

const IN_BRACKETS = /\s*[([{]([^)\]}]*)[)\]}]\s*$/u;
/** A header without its unit: "A (umol m-2 s-1)" and "A [umol]" are A. */
const plainHeader = (cell: string) => cell.replace(IN_BRACKETS, "").trim();
/** What stands in brackets after the name of a column; "" = nothing. */
export const unitOfHeader = (cell: string): string => IN_BRACKETS.exec(cell)?.[1]?.trim() ?? "";

const POINT_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const COMMA_NUMBER = /^[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?$/;
/** A number whose sign may separate thousands as well as decimals; a leading 0 has no thousands. */
const EITHER = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/;
const typed = (cell: string) => cell.replace("\u2212", "-");

/** A finite number, with a decimal point or comma; undefined = none. */
export function numberOf(cell: string): number | undefined {
  const text = typed(cell);
  if (!POINT_NUMBER.test(text) && !COMMA_NUMBER.test(text)) return undefined;
  const value = Number(text.replace(",", "."));
  return Number.isFinite(value) ? value : undefined;
}

/**
 * Whether the sign of a cell may separate thousands: "1,000", unless the other cells have decimal commas and no decimal points,
 * and "1.000" beside cells with decimal commas.
 */
function ambiguity(cells: Iterable<string>): (cell: string) => boolean {
  let [points, commas] = [false, false];
  for (const cell of cells) {
    const text = typed(cell);
    if (EITHER.test(text)) continue;
    points ||= text.includes(".") && POINT_NUMBER.test(text);
    commas ||= COMMA_NUMBER.test(text);
  }
  return (cell) => {
    const text = typed(cell);
    return EITHER.test(text) && (text.includes(",") ? points || !commas : commas && !points);
  };
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

const statedIn = (name: string, header: string): [string, string][] => {
  const unit = header === name ? "" : unitOfHeader(header);
  return unit === "" ? [] : [[name, unit]];
};

/** Numbers that loggers and databases write for a value that is missing. */
const CODES = new Set([
  -99, -999, -9999, -99999, -999999, -999.9, -9999.9, -6999, -7999, 9999, 99999, 999999, 9.96921e36,
]);
/** Such a code lies far outside of the other values. */
const CODE_SHARE = 0.2;

/** The code for missing values of a column; null = it has none. */
function missingCode(values: readonly (number | undefined)[]): number | null {
  const isCode = (value: number) => CODES.has(value) || CODES.has(Math.fround(value));
  for (const code of new Set(values.filter((value) => value !== undefined && isCode(value)))) {
    const others = values.filter((value) => value !== undefined && value !== code);
    if (
      code !== undefined &&
      others.length > 0 &&
      others.every((value) => Math.abs(value ?? 0) < CODE_SHARE * Math.abs(code))
    ) {
      return code;
    }
  }
  return null;
}

/**
 * The columns that a model uses. A row of units below the header is skipped; rows with an empty cell, and rows without a label
 * where others have one, are left out with a warning. Errors: invalid_argument with row (from 1, as in a spreadsheet) and
 * column for a cell that is no number, or can be read as two.
 */
export function tableColumns({ rows }: Table, wanted: WantedColumns): TableColumns {
  const first = rows.findIndex((row) => !isBlank(row));
  const header = rows[first];
  if (!header) throw new AppError("invalid_argument", "the table is empty");
  const indices = indicesOf(header, wanted);
  const used = [...indices].filter(([name]) => name !== wanted.label);
  const labelAt = wanted.label === null ? undefined : indices.get(wanted.label);
  const numbers = new Map<string, number[]>(used.map(([name]) => [name, []]));
  const labels: string[] = [];
  const rowOf: number[] = [];
  const units = new Map(used.flatMap(([name, index]) => statedIn(name, header[index] ?? "")));
  const left: number[] = [];
  const coded: number[] = [];
  const unlabelled: number[] = [];
  const body = rows.slice(first + 1);
  const isEither = ambiguity(body.flatMap((row) => used.map(([, index]) => row[index] ?? "")));
  const codes = used.map(([, index]) => missingCode(body.map((row) => numberOf(row[index] ?? ""))));
  const hasLabels = labelAt !== undefined && body.some((row) => (row[labelAt] ?? "") !== "");
  let isFirst = true;
  rows.forEach((row, at) => {
    if (at <= first || isBlank(row)) return;
    const cells = used.map(([, index]) => row[index]);
    const mayBeUnits = isFirst;
    isFirst = false;
    if (mayBeUnits && cells.every((cell) => isMissing(cell) || numberOf(cell ?? "") === undefined)) {
      used.forEach(([name], i) => {
        const unit = cells[i] ?? "";
        if (unit !== "" && !units.has(name)) units.set(name, unit);
      });
      return;
    }
    if (cells.some(isMissing)) {
      left.push(at + 1);
      return;
    }
    if (cells.some((cell, i) => codes[i] !== null && numberOf(cell ?? "") === codes[i])) {
      coded.push(at + 1);
      return;
    }
    if (hasLabels && (row[labelAt] ?? "") === "") {
      unlabelled.push(at + 1);
      return;
    }
    used.forEach(([name], i) => {
      const cell = cells[i] ?? "";
      if (isEither(cell)) {
        const [whole, decimal] = [cell.replace(/[.,]/, ""), cell.replace(",", ".")];
        throw new AppError(
          "invalid_argument",
          `row ${at + 1}, column "${name}": "${cell}" can be ${whole} or ${decimal}. Write ${whole}, or a number of decimals other than three`,
        );
      }
      const value = numberOf(cell);
      if (value === undefined) {
        throw new AppError("invalid_argument", `row ${at + 1}, column "${name}": "${cell.slice(0, 40)}" is no number`);
      }
      numbers.get(name)?.push(value);
    });
    rowOf.push(at + 1);
    if (hasLabels) labels.push(row[labelAt] ?? "");
  });
  if ((numbers.get(wanted.required[0] ?? "")?.length ?? 0) === 0) {
    throw new AppError("invalid_argument", "the table has no row with all values of the model");
  }
  const warnings = [
    ...(left.length > 0 ? [`Rows with an empty cell were left out: ${named(left)}.`] : []),
    ...(coded.length > 0
      ? [
          `Rows with ${[...new Set(codes.filter((code) => code !== null))].join(" and ")}, which marks missing values, were left out: ${named(coded)}.`,
        ]
      : []),
    ...(unlabelled.length > 0
      ? [
          `Rows without ${wanted.label} were left out: ${named(unlabelled)}. Fill it in every row; merged cells have a value in their first row alone.`,
        ]
      : []),
  ];
  return { numbers, labels: hasLabels ? labels : null, units, rows: rowOf, warnings };
}

function named(rows: readonly number[]): string {
  const first = rows.slice(0, MOST_NAMED).join(", ");
  const more = rows.length > MOST_NAMED ? ` and ${rows.length - MOST_NAMED} more` : "";
  return first + more;
}
