export type TextDelimiter = "comma" | "semicolon" | "tab" | "whitespace";

/** In the order in which they are tried. */
const CHARACTERS: Readonly<Record<Exclude<TextDelimiter, "whitespace">, string>> = {
  comma: ",",
  tab: "\t",
  semicolon: ";",
};
const POINT_NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?$/;
const COMMA_NUMBER = /^[+-]?(?:\d+(?:,\d+)?|,\d+)(?:[eEdD][+-]?\d+)?$/;
const NO_VALUE = /^(?:[+-]?(?:nan|inf|infinity)|na|n\/a|null)$/i;

export const isComment = (line: string): boolean => /^\s*(?:#|\/\/)/.test(line);
export const isBlank = (line: string): boolean => line.trim() === "";
export const isInteger = (field: string): boolean => /^[+-]?\d+$/.test(field);

/** True for a number as the native reader parses it, and for words that mean "no value". */
export function isNumber(field: string, decimalComma: boolean): boolean {
  return (decimalComma ? COMMA_NUMBER : POINT_NUMBER).test(field) || NO_VALUE.test(field);
}

/** The value of a field; NaN if it is not a number. */
export function toNumber(field: string, decimalComma: boolean): number {
  if (!isNumber(field, decimalComma)) return Number.NaN;
  if (NO_VALUE.test(field))
    return /inf/i.test(field) ? Number(`${field.startsWith("-") ? "-" : ""}Infinity`) : Number.NaN;
  return Number((decimalComma ? field.replace(",", ".") : field).replace(/d/i, "e"));
}

/** The fields of a line, unquoted and trimmed. A delimiter at the end of the line adds no field. */
export function splitFields(line: string, delimiter: TextDelimiter): string[] {
  const separator = delimiter === "whitespace" ? null : CHARACTERS[delimiter];
  const fields: string[] = [];
  let at = 0;
  const skipBlanks = () => {
    while (at < line.length && /[ \t]/.test(line.charAt(at)) && line.charAt(at) !== separator) at += 1;
  };
  const ends = () =>
    at >= line.length || (separator === null ? /[ \t]/.test(line.charAt(at)) : line.charAt(at) === separator);
  for (skipBlanks(); at < line.length; skipBlanks()) {
    let field = "";
    if (line.charAt(at) === '"') {
      for (at += 1; at < line.length; at += 1) {
        if (line.charAt(at) === '"' && line.charAt(at + 1) !== '"') break;
        if (line.charAt(at) === '"') at += 1;
        field += line.charAt(at);
      }
      at += 1;
    }
    for (; !ends(); at += 1) field += line.charAt(at);
    fields.push(field.trim());
    if (separator !== null) at += 1;
  }
  return fields;
}

const plain = (line: string) => line.replace(/"[^"]*"/g, "0");

/** True if the rows, split at `delimiter`, contain numbers with decimal commas and none with decimal points. */
function hasDecimalCommas(rows: readonly string[], delimiter: TextDelimiter): boolean {
  const fields = rows.flatMap((row) => splitFields(row, delimiter));
  const commas = fields.some((field) => field.includes(",") && COMMA_NUMBER.test(field));
  const points = fields.some((field) => field.includes(".") && POINT_NUMBER.test(field));
  if (!commas || points) return false;
  if (delimiter !== "whitespace") return rows.every((row) => splitFields(row, delimiter).length > 1);
  return rows.every((row) => splitFields(row, delimiter).length >= 3) && fields.every((field) => isNumber(field, true));
}

/**
 * Delimiter of the data: the first of comma, tab, semicolon and whitespace that splits the first row into three or more
 * fields, else the first that occurs in it. Commas are decimal signs if splitting at another delimiter yields numbers.
 */
export function chooseDelimiter(rows: readonly string[]): { delimiter: TextDelimiter; decimal_comma: boolean } {
  const first = plain(rows[0] ?? "");
  for (const delimiter of ["semicolon", "tab", "whitespace"] as const) {
    if (hasDecimalCommas(rows, delimiter)) return { delimiter, decimal_comma: true };
  }
  const present = (["comma", "tab", "semicolon"] as const).filter((delimiter) => first.includes(CHARACTERS[delimiter]));
  const delimiter =
    present.find((candidate) => splitFields(first, candidate).length >= 3) ?? present[0] ?? "whitespace";
  const spaced = splitFields(first, "whitespace").length;
  const better = delimiter !== "whitespace" && splitFields(first, delimiter).length < 3 && spaced >= 3;
  return { delimiter: better ? "whitespace" : delimiter, decimal_comma: false };
}
