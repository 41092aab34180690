import { AppError } from "../../../../shared/errors.ts";
import { roleOfName } from "../roles.ts";
import { chooseDelimiter, isBlank, isComment, isInteger, isNumber, splitFields, type TextDelimiter } from "./fields.ts";

const SAMPLED_ROWS = 100;
/** Of rows with thousands of columns fewer tell as much; the process answers nothing else meanwhile. */
const SAMPLED_CHARACTERS = 2 ** 18;
const LEAST_SAMPLED_ROWS = 10;

/** What precedes the data of a text table, and its first rows. */
export interface TextHead {
  readonly delimiter: TextDelimiter;
  readonly decimal_comma: boolean;
  /** Names in the header row; [] without one. A delimiter at its end adds no name. */
  readonly names: readonly string[];
  /** Physical lines before the first data row. */
  readonly header_lines: number;
  /** Point count on the first line, as in PTS files; null if absent. */
  readonly declared_count: number | null;
  /** Columns of the data. */
  readonly width: number;
  /** Fields of the first rows. */
  readonly rows: readonly (readonly string[])[];
  readonly warnings: readonly string[];
}

/** The first rows, by which a table is judged. */
function sampled(rows: readonly string[]): readonly string[] {
  let characters = 0;
  const enough = rows.findIndex((row, i) => {
    characters += row.length;
    return i + 1 >= SAMPLED_ROWS || (i + 1 >= LEAST_SAMPLED_ROWS && characters >= SAMPLED_CHARACTERS);
  });
  return enough < 0 ? rows : rows.slice(0, enough + 1);
}

const hasLetters = (line: string) =>
  /\p{L}/u.test(
    line.replace(/(?<=[\d.])[eEdD](?=[+-]?\d)/g, "").replace(/\b(?:nan|inf|infinity|na|n\/a|null)\b/gi, ""),
  );
const withoutMark = (line: string) => line.replace(/^\s*(?:#+|\/\/+)\s*/, "");
const isContent = (line: string) => !isBlank(line) && !isComment(line);
const DELIMITERS: readonly TextDelimiter[] = ["comma", "tab", "semicolon", "whitespace"];

/** True if the names identify x, y and z. */
export function resolvesPosition(names: readonly string[]): boolean {
  const roles = new Set(names.map(roleOfName));
  return ["x", "y", "z"].every((axis) => roles.has(axis));
}

/** Characters that separate names which may contain blanks. */
const SEPARATORS: readonly TextDelimiter[] = ["comma", "semicolon", "tab"];

/**
 * Names in a header line: split like the data, else at the first delimiter that yields x, y and z. Above rows separated
 * by blanks, a header that splits at another delimiter into x, y and z, or into one name per column, is split there: its
 * names may contain blanks ("Target Index[]").
 */
function namesOf(line: string, delimiter: TextDelimiter, width: number): string[] {
  const split = (by: TextDelimiter) => splitFields(line, by).map((name) => name.replace(/^\uFEFF/, "").trim());
  const others = delimiter === "whitespace" ? SEPARATORS.map(split) : [];
  const own = split(delimiter);
  const found = [...others, own, ...DELIMITERS.map(split)].find(resolvesPosition);
  if (found) return found;
  const fitting = others.find((names) => names.length > 1 && names.length === width);
  return fitting ?? (own.length > 1 ? own : split(line.includes(",") ? "comma" : "whitespace"));
}

/** Refuses other text formats, whose numbers would be nonsense as points. */
function refuseOtherFormats(lines: readonly string[]): void {
  const content = lines.filter(isContent);
  const starts = (index: number, pattern: RegExp) => pattern.test(content[index] ?? "");
  if (starts(0, /^\s*ncols\s+\d+\s*$/i) && starts(1, /^\s*nrows\s+\d+\s*$/i)) {
    throw new AppError(
      "invalid_file",
      "this is an ESRI ASCII grid (raster of heights), not a table of points; convert it to rows of x, y, z first",
    );
  }
  const fields = content.slice(0, 10).map((line) => splitFields(line, "whitespace").length);
  if (starts(0, /^\s*\d+\s*$/) && starts(1, /^\s*\d+\s*$/) && fields.join() === "1,1,3,3,3,3,4,4,4,4") {
    throw new AppError(
      "invalid_file",
      "this is a PTX scan (size, pose and transformation before the points); name it .ptx",
    );
  }
}

/**
 * Finds the point count, header and data in the first lines of a text table (given without line ends).
 * Errors: invalid_file for a raster grid, a PTX scan, and text without data rows.
 */
export function readTextHead(source: readonly string[]): TextHead {
  const lines = source.map((line, i) => (i === 0 ? line.replace(/^\uFEFF/, "") : line));
  refuseOtherFormats(lines);
  const content = lines.flatMap((line, i) => (isContent(line) ? [i] : []));
  const lineAt = (k: number) => lines[content[k] ?? -1] ?? "";
  const counted = content.length > 1 && /^\s*\d+\s*$/.test(lineAt(0)) && hasThreeFields(lineAt(1));
  const start = counted ? 1 : 0;
  const named =
    content.length > start &&
    isHeader(
      lineAt(start),
      content.slice(start + 1).map((i) => lines[i] ?? ""),
    );
  const data = content.slice(start + (named ? 1 : 0));
  const first = data[0];
  if (first === undefined) throw new AppError("invalid_file", noData(content.length === 0, lineAt(start)));

  const sample = sampled(data.slice(0, SAMPLED_ROWS).map((i) => lines[i] ?? ""));
  const numeric = sample.filter((line) => !hasLetters(line));
  const format = chooseDelimiter(numeric.length > 0 ? numeric : sample);
  const rows = sample.map((line) => splitFields(line, format.delimiter));
  const width = commonWidth(rows);
  const names = named
    ? namesOf(lineAt(start), format.delimiter, width)
    : commentedNames(lines.slice(0, first), format.delimiter, width);
  while (names.length > 0 && names.at(-1) === "") names.pop();
  const fitted = fitNames(names, rows, width, format.delimiter, named);
  return {
    ...format,
    names: fitted.names,
    header_lines: first,
    declared_count: counted ? Number(lineAt(0)) : null,
    width,
    rows,
    warnings: fitted.warnings,
  };
}

const hasThreeFields = (line: string) => DELIMITERS.some((delimiter) => splitFields(line, delimiter).length >= 3);

/** A header has letters, and either names x, y and z or has no numeric field. */
function isHeader(line: string, next: readonly string[]): boolean {
  if (!hasLetters(line)) return false;
  const rows = next.length > 0 ? sampled(next) : [line];
  const { delimiter, decimal_comma } = chooseDelimiter(rows);
  const names = namesOf(line, delimiter, commonWidth(rows.map((row) => splitFields(row, delimiter))));
  return resolvesPosition(names) || !names.some((name) => isNumber(name, decimal_comma));
}

/** A comment counts as header only if it names x, y and z. */
function commentedNames(before: readonly string[], delimiter: TextDelimiter, width: number): string[] {
  for (const line of before) {
    if (!isComment(line)) continue;
    const names = namesOf(withoutMark(line), delimiter, width);
    if (resolvesPosition(names)) return names;
  }
  return [];
}

function noData(empty: boolean, header: string): string {
  if (empty) return "no data rows: every line of the file is blank or a comment";
  const shown = header.trim().slice(0, 60);
  return `no data rows: "${shown}" is taken for a header because it has letters, and nothing follows it`;
}

/** Names aligned with the columns of the data. `bare`: the header is not inside a comment. */
function fitNames(
  names: string[],
  rows: readonly (readonly string[])[],
  width: number,
  delimiter: TextDelimiter,
  bare: boolean,
) {
  const firstFields = rows.map((row) => row[0] ?? "");
  if (bare && names.length === width - 1 && rows.length > 1 && countsUp(firstFields)) {
    const warning =
      "the header has one name fewer than the rows have columns: the first column numbers the rows and stays unnamed";
    return { names: ["", ...names], warnings: [warning] };
  }
  // Delimited names can be trusted, and the reader reports columns that no row has.
  if (names.length <= width || (bare && delimiter !== "whitespace")) return { names, warnings: [] };
  // In a comment a remark may follow the names. Between blanks, a name of two words shifts all names after it.
  const warning = `the header has ${names.length} names for ${width} columns; check that each name belongs to its column`;
  return { names: names.slice(0, width), warnings: bare ? [warning] : [] };
}

/** The most frequent number of columns, so that one odd row does not decide. */
function commonWidth(rows: readonly (readonly string[])[]): number {
  const counts = new Map<number, number>();
  for (const { length } of rows) counts.set(length, (counts.get(length) ?? 0) + 1);
  return [...counts].sort(([a, n], [b, m]) => m - n || b - a)[0]?.[0] ?? 0;
}

/** True for row numbers: integers that increase by 1. */
const countsUp = (fields: readonly string[]) =>
  fields.every((field, i) => isInteger(field) && (i === 0 || Number(field) === Number(fields[i - 1]) + 1));
