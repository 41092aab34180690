/** What a cell of a table may hold; null, undefined and numbers that are not finite leave it empty. */
export type CsvCell = string | number | boolean | null | undefined;

/** Texts that a spreadsheet program would run as a formula, also behind white space. */
const FORMULA = /^\s*[=+\-@]|^[\t\r\n]/;

/**
 * One cell of a CSV file (RFC 4180). A text that would be read as a formula gets an apostrophe, the sign of text in
 * spreadsheet programs; numbers stay numbers.
 */
export function csvCell(cell: CsvCell): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number" && !Number.isFinite(cell)) return "";
  if (typeof cell !== "string") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of a CSV file, without its end. */
export const csvLine = (cells: readonly CsvCell[]): string => cells.map(csvCell).join(",");
