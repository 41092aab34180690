import Papa from "papaparse";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_FIT_TABLE_CELLS, MAX_FIT_TABLE_ROWS } from "../../../../shared/limits.ts";
import { MOST_ROWS_ABOVE } from "./header.ts";

const [LINE_FEED, RETURN, BLANK] = [10, 13, 32];
/** Characters of a line in which the names of columns are looked for. */
const LONGEST_HEADER = 2 ** 16;

/** Cells of a table, as text; row 0 is the header. */
export interface Table {
  readonly rows: readonly (readonly string[])[];
}

/** UTF-8, or UTF-16 with a byte order mark. Errors: invalid_file. */
function textOf(bytes: Uint8Array, name: string): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes); // drops the byte order mark
  } catch {
    throw new AppError("invalid_file", `"${name}" is not ${encoding.toUpperCase()} text; save the table as UTF-8`);
  }
}

/** The line that names the columns: the first with the wanted ones, else the first that is neither blank nor a comment. */
function headerLine(text: string, isHeader: (cells: readonly string[]) => boolean): string {
  const lines = text
    .split(/\r\n|\n|\r/, MOST_ROWS_ABOVE)
    .map((line) => line.slice(0, LONGEST_HEADER))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const cells = (line: string) => {
    const delimiter = delimiterOf(line);
    return line.split(delimiter === " " ? /\s+/ : delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  };
  return lines.find((line) => isHeader(cells(line))) ?? lines[0] ?? "";
}

/** What separates the cells: a tab, semicolon or comma of the header outside of quotes, else blanks. */
function delimiterOf(header: string): "\t" | ";" | "," | " " {
  const bare = header.replace(/"[^"]*"/g, "");
  return (["\t", ";", ","] as const).find((sign) => bare.includes(sign)) ?? (/\S\s+\S/.test(bare) ? " " : ",");
}

/** Refuses tables that would take the process, which answers all requests, seconds to take apart. */
function checkSize(text: string, delimiter: string, name: string): void {
  const separates = delimiter.charCodeAt(0);
  let [rows, cells, blank] = [1, 1, true];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    const ends = sign === LINE_FEED || (sign === RETURN && text.charCodeAt(at + 1) !== LINE_FEED);
    // Blanks that follow each other separate once.
    if (ends || (sign === separates && !(blank && sign === BLANK))) cells += 1;
    if (ends) rows += 1;
    blank = sign === BLANK;
  }
  const [most, many, what] =
    rows > MAX_FIT_TABLE_ROWS ? [MAX_FIT_TABLE_ROWS, rows, "rows"] : [MAX_FIT_TABLE_CELLS, cells, "cells"];
  if (many <= most) return;
  throw new AppError(
    "invalid_argument",
    `"${name}" has ${many} ${what}; a table has at most ${most} here. Leave out rows and columns that the fit does not need`,
  );
}

/**
 * Reads separated text: tabs, semicolons, commas or blanks, quoted cells, comments after "#". `isHeader`: whether cells name
 * the wanted columns; the line with them tells what separates cells.
 * Errors: invalid_file for other encodings and quotes that do not end; invalid_argument for too many rows or cells.
 */
export function textTable(
  bytes: Uint8Array,
  name: string,
  isHeader: (cells: readonly string[]) => boolean = () => false,
): Table {
  const text = textOf(bytes, name);
  const line = headerLine(text, isHeader);
  const delimiter = delimiterOf(line);
  checkSize(text, delimiter, name);
  const even = delimiter === " " ? text.replace(/[^\S\r\n]+/g, " ").replace(/^ | $/gm, "") : text;
  const { data, errors } = Papa.parse<string[]>(even, { delimiter, skipEmptyLines: false });
  const [problem] = errors;
  if (problem) {
    const row = problem.row === undefined ? "" : `row ${problem.row + 1}: `;
    throw new AppError("invalid_file", `"${name}": ${row}${problem.message}`);
  }
  const isComment = (row: readonly string[]) => row[0]?.startsWith("#") ?? false;
  const width = data.find((row) => !isComment(row) && row.some((cell) => cell.trim() !== ""))?.length ?? 0;
  // What a spreadsheet writes for an error, and numbers such as #1, are cells of a row.
  const isCell = (row: readonly string[]) =>
    row.length === width && /^#(?:\d+|N\/A|DIV\/0!|VALUE!|REF!|NAME\?|NUM!|NULL!)$/.test(row[0]?.trim() ?? "");
  return { rows: data.map((row) => (isComment(row) && !isCell(row) ? [] : row.map((cell) => cell.trim()))) };
}
