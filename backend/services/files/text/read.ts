import type { ColumnPlan } from "../../../../shared/contract/column-plan.ts";
import { AppError } from "../../../../shared/errors.ts";
import type { Job } from "../../../jobs/job.ts";
import * as native from "../../../native/files/readers.ts";
import type { ColumnRef } from "../../../sessions/column-ref.ts";
import { extensionOf } from "../source.ts";
import {
  adoptTable,
  BYTE_COLORS,
  counts,
  type ReadRequest,
  type RoledColumn,
  type SourceCloud,
} from "../source-cloud.ts";
import { headerSystem } from "./header-units.ts";
import { detectTextLayout, type TextColumn, type TextLayout } from "./layout.ts";

/** Lines that the layout is derived from. */
const SAMPLE_LINES = 200;

/** Layout of a text file. Errors: invalid_file, invalid_argument, validation; the message names the file. */
export async function textLayout(
  path: string,
  options: { readonly ascii_format: string | null; readonly column_plan: ColumnPlan | null },
  job: Job,
): Promise<TextLayout> {
  const { lines } = await job.track(() => native.sampleText(path, SAMPLE_LINES));
  try {
    return detectTextLayout(lines, { ...options, extension: extensionOf(path) });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `${path}: ${error.message}`, error.details, { cause: error });
  }
}

/** Parameters for the native reader. Without `columns` it reads positions only. */
export function textReadParams(
  layout: TextLayout,
  columns: readonly TextColumn[],
  frame: native.PositionFrame,
  maxRows: number,
) {
  const axis = (role: string) => layout.columns.find((column) => column.role === role)?.index ?? -1;
  return {
    delimiter: layout.delimiter,
    decimal_comma: layout.decimal_comma,
    skip_lines: layout.header_lines,
    expected_columns: layout.column_count,
    x_index: axis("x"),
    y_index: axis("y"),
    z_index: axis("z"),
    columns: columns.map((column) => ({ index: column.index, name: keyOf(column), type: column.type })),
    frame,
    max_rows: maxRows,
  };
}

/** The columns that are read besides the positions. */
export const keptColumns = ({ columns }: TextLayout): TextColumn[] =>
  columns.filter(({ role }) => !["x", "y", "z", "skip"].includes(role));

/** Reads a text table with every column its layout keeps. */
export async function readTextCloud({ path, frame, ...options }: ReadRequest, job: Job): Promise<SourceCloud> {
  const layout = await textLayout(path, options, job);
  const kept = keptColumns(layout);
  const table = await job.track(() => native.readText(path, textReadParams(layout, kept, frame, 0)));
  const { positions, columns } = adoptTable(table, job);
  // The reader leaves out columns without a single number, so the others are matched by key.
  const byKey = new Map(kept.map((column) => [keyOf(column), column]));
  const roled = columns.map(({ name, column }): RoledColumn => {
    const from = byKey.get(name);
    if (!from) throw new AppError("internal", `${path}: the reader returned a column "${name}" that was not requested`);
    const extra = from.role === "extra";
    return {
      name: from.header_name ?? from.label,
      label: from.label,
      role: extra ? null : from.role,
      slug: extra ? from.slug : null,
      column,
    };
  });
  const crs = headerSystem(layout);
  return {
    kind: "ascii",
    positions,
    columns: roled,
    rgb_scale: layout.rgb_is_255 ? "byte" : "unit",
    color_full: BYTE_COLORS,
    unit_colors: layout.rgb_is_255 ? [] : unitColors(roled),
    scan_origin: null,
    scans: [],
    unplaceable_miss_count: 0,
    crs,
    gps_time_encoding: null,
    scale_m: null,
    ...counts(table),
    warnings: [
      ...(layout.warning ? [layout.warning] : []),
      ...(crs?.warnings ?? []),
      ...countWarning(layout, table),
      ...table.warnings,
    ],
  };
}

/** The channels of colours 0..1; empty without all three. */
function unitColors(columns: readonly RoledColumn[]): ColumnRef[] {
  const channels = ["r", "g", "b"].flatMap((role) => columns.find((column) => column.role === role)?.column ?? []);
  return channels.length === 3 ? channels : [];
}

/** Warns of a file that was cut off or extended: it contains more or fewer points than it declares. */
export function countWarning({ declared_count }: TextLayout, table: native.CloudTable): string[] {
  const rows = table.positions.length + table.nonfinite_dropped + table.malformed_dropped;
  if (declared_count === null || declared_count === rows) return [];
  return [`The file declares ${declared_count} points but contains ${rows}; it may be incomplete.`];
}

/** A key that is unique in a layout, unlike the names in the file: an extra's slug, else the role. */
export const keyOf = ({ slug, role }: TextColumn): string => slug || role;
