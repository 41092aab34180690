import { AppError } from "../../../../shared/errors.ts";
import { headerRow, indicesOf, statedIn, type WantedColumns } from "./header.ts";
import { missingCode } from "./missing-codes.ts";
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

const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "-", "#n/a"]);
const MOST_NAMED = 10;
const isBlank = (row: readonly string[]) => row.every((cell) => cell === "");
const isMissing = (cell: string | undefined) => cell === undefined || MISSING.has(cell.toLowerCase());

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

/**
 * The columns that a model uses. A row of units below the header is skipped; rows with an empty cell, and rows without a label
 * where others have one, are left out with a warning. Errors: invalid_argument with row (from 1, as in a spreadsheet) and
 * column for a cell that is no number, or can be read as two.
 */
export function tableColumns({ rows }: Table, wanted: WantedColumns): TableColumns {
  const first = headerRow(rows, wanted);
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
  const above = rows.slice(0, first).filter((row) => !isBlank(row)).length;
  const warnings = [
    ...(above > 0
      ? [
          `The columns are named in row ${first + 1}; ${above === 1 ? "the row" : `${above} rows`} above it ${above === 1 ? "was" : "were"} skipped.`,
        ]
      : []),
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
