import type { ColumnPlan } from "../../../shared/contract/column-plan.ts";
import type { Job } from "../../jobs/job.ts";
import type * as native from "../../native/files/readers.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { NamedColumn } from "./column-roles.ts";
import type { SourceKind } from "./source.ts";

/** A full channel of 8-bit colours, which are stored times 256. */
export const BYTE_COLORS = 255 * 256;

/** Which file to read, and how. */
export interface ReadRequest {
  readonly path: string;
  readonly kind: SourceKind;
  readonly frame: native.PositionFrame;
  readonly ascii_format: string | null;
  readonly column_plan: ColumnPlan | null;
  /** The only scan to read from a file with several; null = all. */
  readonly scan_index: number | null;
}

/** One column of a file and its values. */
export interface RoledColumn extends NamedColumn {
  /** Its extra-bytes record in a LAS file. */
  readonly record?: native.LasExtraRecord | null;
  readonly column: ColumnRef;
}

/** A whole file in memory. The run owns every column. */
export interface SourceCloud {
  readonly kind: SourceKind;
  readonly positions: ColumnRef;
  readonly columns: readonly RoledColumn[];
  /** Scale of separate colour channels: "byte" 0..255, "unit" 0..1. */
  readonly rgb_scale: "byte" | "unit";
  /** A full channel of the merged colours `rgb`. */
  readonly color_full: number;
  /** Red, green and blue as floats 0..1, unscaled; empty if the file has other colours or none. */
  readonly unit_colors: readonly ColumnRef[];
  /** Scanner position that the file states, of the first scan if there are several; stored frame. */
  readonly scan_origin: Triple | null;
  /** Scanner positions of the file; empty for formats without scans. */
  readonly scans: readonly native.ScanInfo[];
  /** Misses without a direction; they are placed at their scanner. */
  readonly unplaceable_miss_count: number;
  readonly crs: native.LasCrs | null;
  readonly gps_time_encoding: "adjusted_standard" | "gps_week" | null;
  /** Coordinate step of the file in metres, null for formats without one. */
  readonly scale_m: Triple | null;
  /** Offset that the coordinate steps count from, true world, metres. */
  readonly offset_m?: Triple;
  readonly nonfinite_dropped: number;
  readonly malformed_dropped: number;
  readonly warnings: readonly string[];
}

/** Warning of an import and a preview. */
export const NO_POINTS = "The file contains no points.";

/** Adopts every column of a native table for the run. */
export function adoptTable(table: native.CloudTable, job: Job) {
  const positions = job.adopt(new ColumnRef(table.positions));
  const columns = table.columns.map((source) => ({ ...source, column: job.adopt(new ColumnRef(source.column)) }));
  const unit_colors = table.unit_colors.map((column) => job.adopt(new ColumnRef(column)));
  return { positions, columns, unit_colors };
}

/** Frees the columns of a file except those in `used`. */
export function releaseUnused({ columns, unit_colors }: SourceCloud, used: ReadonlySet<ColumnRef>, job: Job): void {
  const read = new Set([...columns.map(({ column }) => column), ...unit_colors]);
  for (const column of read) if (!used.has(column)) job.releaseEarly(column);
}

/** A table's report about the rows it left out. */
export function counts({ nonfinite_dropped, malformed_dropped, warnings }: native.CloudTable) {
  return { nonfinite_dropped, malformed_dropped, warnings };
}
