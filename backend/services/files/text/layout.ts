import { type ColumnPlan, planConflicts } from "../../../../shared/contract/column-plan.ts";
import { AppError } from "../../../../shared/errors.ts";
import { roleOfName } from "../roles.ts";
import { extraSlug } from "../slugs.ts";
import { type AxisUnit, unitOfComment } from "../stated-unit.ts";
import { heightsOfThings, widerAxes } from "./axis-names.ts";
import {
  contestedAxes,
  headerColumns,
  legendColumns,
  planColumns,
  positionColumns,
  type TextColumn,
} from "./columns.ts";
import { isComment, isInteger, isNumber, type TextDelimiter, toNumber } from "./fields.ts";
import { readTextHead, resolvesPosition, type TextHead } from "./head.ts";

export type { TextColumn } from "./columns.ts";

/** How a text file is to be read. */
export interface TextLayout {
  readonly delimiter: TextDelimiter;
  readonly decimal_comma: boolean;
  readonly has_header: boolean;
  /** Physical lines before the first data row. */
  readonly header_lines: number;
  /** Point count that the file declares; null if it declares none. */
  readonly declared_count: number | null;
  /** Number of columns in a complete row. */
  readonly column_count: number;
  /** Where the roles come from. */
  readonly decided_by: "plan" | "legend" | "header" | "positions";
  readonly columns: readonly TextColumn[];
  /** Columns r, g, b hold 0..255; else 0..1. Columns r255, g255, b255 always hold 0..255. */
  readonly rgb_is_255: boolean;
  /** Unit that comments above the rows state; null = none. */
  readonly stated_unit: AxisUnit | null;
  /** Fields of the first rows, at most 100. */
  readonly sample_rows: readonly (readonly string[])[];
  readonly warning: string | null;
}

export interface TextLayoutOptions {
  readonly ascii_format?: string | null;
  readonly column_plan?: ColumnPlan | null;
  /** Of the file, lower case with dot: PTS files have an order of their own. */
  readonly extension?: string;
}

/** 4096 columns of 64 characters. The lines are taken apart in the process that answers all requests. */
const LONGEST_LINE = 2 ** 18;

/**
 * Derives the layout of a text table from the first of these that exists: column plan, legend (`ascii_format`), header;
 * else from positions and values of the columns in its first lines.
 * Errors: validation (plan that claims a role or a column twice), invalid_argument (plan or legend without x, y, z),
 * invalid_file (a line that is too long, raster grid, no data rows, fewer than three columns, header without x, y or z).
 */
export function detectTextLayout(lines: readonly string[], options: TextLayoutOptions = {}): TextLayout {
  const plan = options.column_plan ?? null;
  const conflicts = plan === null ? [] : planConflicts(plan.columns);
  if (conflicts.length > 0) throw new AppError("validation", `column_plan: ${conflicts.join("; ")}`);
  const legend = (options.ascii_format ?? "").split(/\s+/).filter((name) => name !== "");

  const long = lines.findIndex((line) => line.length > LONGEST_LINE);
  if (long >= 0) {
    throw new AppError(
      "invalid_file",
      `line ${long + 1} has ${lines[long]?.length} characters, more than ${LONGEST_LINE}: not a text table`,
    );
  }
  const head = readTextHead(lines);
  const { width } = head;
  const warnings = [...head.warnings];
  const { columns, decided_by } = decide(plan, legend, head, width, { warnings, extension: options.extension });
  if (decided_by === "header" || decided_by === "legend") warnings.push(...contestedAxes(columns));
  const listed = heightsOfThings(head.names, columns.find(({ role }) => role === "z")?.index ?? -1);
  if (decided_by === "header" && listed !== null) warnings.push(listed);
  const present = new Set(columns.map(({ role }) => role));
  const missing = ["x", "y", "z"].filter((axis) => !present.has(axis));
  if (missing.length > 0) {
    throw new AppError(
      "invalid_argument",
      `the ${decided_by} must include x, y, and z; ${missing.join(", ")} ${missing.length > 1 ? "are" : "is"} missing`,
    );
  }
  return {
    delimiter: head.delimiter,
    decimal_comma: head.decimal_comma,
    has_header: head.names.length > 0,
    header_lines: head.header_lines,
    declared_count: head.declared_count,
    column_count: Math.max(width, ...columns.map(({ index }) => index + 1)),
    decided_by,
    columns,
    rgb_is_255: decided_by === "plan" ? (plan?.rgb_is_255 ?? true) : !columns.some(({ role }) => role === "r"),
    stated_unit: unitOfComment(lines.slice(0, head.header_lines).filter(isComment).join("\n")),
    sample_rows: head.rows,
    warning: warnings.length === 0 ? null : warnings.join("; "),
  };
}

function decide(
  plan: ColumnPlan | null,
  legend: readonly string[],
  head: TextHead,
  width: number,
  { warnings, extension }: { readonly warnings: string[]; readonly extension: string | undefined },
) {
  if (plan !== null) return { columns: planColumns(plan, head), decided_by: "plan" as const };
  if (legend.length > 0) return { columns: legendColumns(legend, width), decided_by: "legend" as const };
  if (resolvesPosition(head.names))
    return { columns: headerColumns(head, Math.max(width, head.names.length)), decided_by: "header" as const };
  const wider = widerAxes(head.names);
  if (wider !== null && width >= 3) {
    const taken = [...wider].map(([index, axis]) => `${axis} = ${head.names[index]}`).sort();
    warnings.push(`the header names no x, y, z; by its names ${taken.join(", ")}`);
    return {
      columns: headerColumns(head, Math.max(width, head.names.length), wider),
      decided_by: "header" as const,
    };
  }
  if (head.names.length > 0) checkNames(head, width, warnings);
  if (width < 3)
    throw new AppError("invalid_file", `the rows have ${width} column${width === 1 ? "" : "s"}; x, y and z need three`);
  const columns = positionColumns(head, width, extension);
  warnings.push(...countedAxis(columns, head));
  return { columns, decided_by: "positions" as const };
}

/** Fewer rows count up by chance. */
const COUNTED_ROWS = 10;

/** A first column that counts the rows is hardly x, although its place says so. */
function countedAxis(columns: readonly TextColumn[], { rows, decimal_comma }: TextHead): string[] {
  const x = columns.find(({ role }) => role === "x");
  if (x?.index !== 0 || columns.length < 4 || rows.length < COUNTED_ROWS) return [];
  const values = rows.map((row) => toNumber(row[0] ?? "", decimal_comma));
  if (!values.every((value, row) => row === 0 || value - (values[row - 1] ?? Number.NaN) === 1)) return [];
  return [
    `the first column counts up by 1 (${values.slice(0, 3).join(", ")}, ...) and was taken as x; if it numbers the points, assign the columns with a column plan or a legend`,
  ];
}

/** Refuses a header that names only some of x, y and z, and text in the first columns: a guess could be wrong. */
function checkNames(head: TextHead, width: number, warnings: string[]): void {
  const roles = new Set(head.names.map(roleOfName));
  const missing = ["x", "y", "z"].filter((axis) => !roles.has(axis));
  const found = head.names.slice(0, 20).join(", ");
  const numbers = head.rows.some((row) => row.slice(0, 3).every((field) => isNumber(field, head.decimal_comma)));
  if (missing.length < 3 || width < 3 || !numbers) {
    const names = missing.length === 3 ? "x, y and z columns" : `${missing.join(" and ")} column`;
    throw new AppError(
      "invalid_file",
      `no ${names}: the header names ${found}; assign the columns with a column plan or a legend`,
    );
  }
  warnings.push(`the header (${found}) names no x, y, z; the columns were assigned by their position`);
}

export interface TextPreviewColumn {
  readonly index: number;
  readonly header_name: string | null;
  readonly detected_role: string;
  readonly suggested_label: string;
  readonly suggested_slug: string;
  readonly type_hint: "empty" | "categorical" | "integer" | "float";
  readonly remappable: boolean;
}

/** The columns as the import wizard shows them; an unnamed column and one without a number (`valueless`), which the
 * import leaves out, are offered as `skip`. */
export function textPreviewColumns(
  layout: TextLayout,
  valueless: ReadonlySet<TextColumn> = new Set(),
): TextPreviewColumn[] {
  return layout.columns.map((column) => ({
    index: column.index,
    header_name: column.header_name,
    detected_role:
      (column.role === "extra" && column.header_name === null) || valueless.has(column) ? "skip" : column.role,
    suggested_label: column.label,
    suggested_slug: column.role === "reflectance" ? extraSlug(column.header_name ?? column.label) : column.slug,
    type_hint: typeHint(
      layout.sample_rows.map((row) => row[column.index] ?? "").filter((field) => field !== ""),
      layout.decimal_comma,
    ),
    remappable: true,
  }));
}

const MOST_CLASSES = 32;

/** Type hint from the sampled values of one column. */
export function typeHint(fields: readonly string[], decimalComma: boolean): TextPreviewColumn["type_hint"] {
  if (fields.length === 0) return "empty";
  if (fields.every(isInteger)) {
    const values = new Set(fields.map(Number));
    return values.size <= MOST_CLASSES && [...values].every((v) => v >= 0) ? "categorical" : "integer";
  }
  return fields.every((field) => isNumber(field, decimalComma)) ? "float" : "categorical";
}
