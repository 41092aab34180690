import type { Box, Point } from "../../shared/contract/geometry.ts";
import type { Job } from "../jobs/job.ts";
import type { NativeColumn } from "../native/addon.ts";
import * as native from "../native/cloud.ts";
import type { CloudState } from "../sessions/cloud-session.ts";
import { type ColumnStatistics, measureColumns } from "./column-statistics.ts";
import { extraColumn, positionsColumn } from "./session-columns.ts";

/** Columns that measure something: their whole numbers are no classes. */
const CONTINUOUS: ReadonlySet<string> = new Set([
  "nx",
  "ny",
  "nz",
  "curvature",
  "verticality",
  "timestamp",
  "height_above_ground",
]);

/** Statistics of the surviving hits that the client frames, colours and filters with. Stored frame, metres. */
export interface CloudSummary {
  readonly ground_z: number | null;
  readonly robust_bounds: Box | null;
  readonly robust_extent: Point | null;
  readonly robust_attribute_ranges: Record<string, [number, number]>;
  readonly observed_classes: Record<string, number[]>;
}

/** `known`: statistics over all rows that exist already; they count where no row is skipped. */
export async function cloudSummary(
  state: CloudState,
  skip: NativeColumn | null,
  job: Job,
  known: ColumnStatistics = new Map(),
): Promise<CloudSummary> {
  const cloud = await job.track(() => native.cloudStats(positionsColumn(state), skip));
  const extras = state.meta.extra_dims_meta.map(({ slug }) => [slug, extraColumn(state, slug)] as const);
  const usable: ColumnStatistics = skip === null ? known : new Map();
  const unknown = extras.map(([, column]) => column).filter((column) => !usable.has(column));
  const measured = await measureColumns(unknown, skip, job);
  const ranges: Record<string, [number, number]> = {};
  const classes: Record<string, number[]> = {};
  for (const [slug, values] of extras) {
    const column = usable.get(values) ?? measured.get(values);
    if (!column) continue;
    if (column.p01 !== null && column.p99 !== null && column.p01 < column.p99) ranges[slug] = [column.p01, column.p99];
    if (column.distinct && column.is_integral && !CONTINUOUS.has(slug)) classes[slug] = [...column.distinct];
  }
  const box = cloud.robust_bounds;
  return {
    ground_z: cloud.ground_z,
    robust_bounds: box ? { min: [...box.min], max: [...box.max] } : null,
    robust_extent: box ? [box.max[0] - box.min[0], box.max[1] - box.min[1], box.max[2] - box.min[2]] : null,
    robust_attribute_ranges: ranges,
    observed_classes: classes,
  };
}
