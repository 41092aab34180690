import type { ColumnPlan } from "../../../shared/contract/column-plan.ts";
import type { Job } from "../../jobs/job.ts";
import type * as native from "../../native/files/readers.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { SourceKind } from "./source.ts";

/** What the user asked about reading a file. */
export interface ReadRequest {
  readonly path: string;
  readonly kind: SourceKind;
  readonly frame: native.PositionFrame;
  readonly ascii_format: string | null;
  readonly column_plan: ColumnPlan | null;
  /** One scan of a file with several; null = all. */
  readonly scan_index: number | null;
}

/** One column of a file with what it stands for. `role` null = an extra of its own. */
export interface RoledColumn {
  readonly name: string;
  readonly label: string;
  /** Role of the column plan (intensity, timestamp, origin_x ...), "rgb" for ready colours, or null. */
  readonly role: string | null;
  /** The user named this slug or role; it is not resolved any further. */
  readonly slug: string | null;
  /** How a LAS file stored it. */
  readonly record?: native.LasExtraRecord | null;
  readonly column: ColumnRef;
}

/** A file read whole. Every column is adopted by the run. */
export interface SourceCloud {
  readonly kind: SourceKind;
  readonly positions: ColumnRef;
  readonly columns: readonly RoledColumn[];
  /** Scale of separate colour channels: "byte" 0..255, "unit" 0..1. */
  readonly rgb_scale: "byte" | "unit";
  /** Scanner position the file states, stored frame; of the first scan when there are several. */
  readonly scan_origin: Triple | null;
  /** Scanner positions of the file; empty for formats without. */
  readonly scans: readonly native.ScanInfo[];
  /** Misses without a direction: they lie at their scanner. */
  readonly unplaceable_miss_count: number;
  readonly crs: native.LasCrs | null;
  readonly gps_time_encoding: "adjusted_standard" | "gps_week" | null;
  /** Coordinate step of the file in metres, null for formats without one. */
  readonly scale_m: Triple | null;
  /** Where its steps begin, true world, metres. */
  readonly offset_m?: Triple;
  readonly nonfinite_dropped: number;
  readonly malformed_dropped: number;
  readonly warnings: readonly string[];
}

/** Adopts every column of a native table for the run. */
export function adoptTable(table: native.CloudTable, job: Job) {
  const positions = job.adopt(new ColumnRef(table.positions));
  const columns = table.columns.map((source) => ({ ...source, column: job.adopt(new ColumnRef(source.column)) }));
  return { positions, columns };
}

/** What a table says about rows it left out. */
export function counts({ nonfinite_dropped, malformed_dropped, warnings }: native.CloudTable) {
  return { nonfinite_dropped, malformed_dropped, warnings };
}
