import Papa from "papaparse";
import { AppError } from "../../../../shared/errors.ts";

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

/** The first line that is neither blank nor a comment. */
const headerLine = (text: string) =>
  text.split(/\r\n|\n|\r/, 200).find((line) => line.trim() !== "" && !line.startsWith("#")) ?? "";

/** What separates the cells: a tab, semicolon or comma of the header outside of quotes, else blanks. */
function delimiterOf(header: string): "\t" | ";" | "," | " " {
  const bare = header.replace(/"[^"]*"/g, "");
  return (["\t", ";", ","] as const).find((sign) => bare.includes(sign)) ?? (/\S\s+\S/.test(bare) ? " " : ",");
}

/**
 * Reads separated text: tabs, semicolons, commas or blanks, quoted cells, comments after "#".
 * Errors: invalid_file for other encodings and quotes that do not end.
 */
export function textTable(bytes: Uint8Array, name: string): Table {
  const text = textOf(bytes, name);
  const delimiter = delimiterOf(headerLine(text));
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
