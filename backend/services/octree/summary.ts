import type { Box, Point } from "../../../shared/contract/geometry.ts";
import type { Job } from "../../jobs/job.ts";
import type { ColumnStats } from "../../native/cloud/cloud.ts";
import * as native from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraKey } from "../../sessions/column-names.ts";
import type { ColumnRef } from "../../sessions/column-ref.ts";
import { type ColumnStatistics, measureColumns } from "../files/column-statistics.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { positionsColumn } from "./columns.ts";

/** Columns with continuous quantities: whole numbers in them are not classes. */
const CONTINUOUS: ReadonlySet<string> = new Set([
  "nx",
  "ny",
  "nz",
  "curvature",
  "verticality",
  "timestamp",
  "height_above_ground",
]);

/** Statistics of the surviving hits; the client uses them to frame, colour and filter. Stored frame, metres. */
export interface CloudSummary {
  readonly ground_z: number | null;
  readonly robust_bounds: Box | null;
  readonly robust_extent: Point | null;
  readonly robust_attribute_ranges: Record<string, [number, number]>;
  readonly observed_classes: Record<string, number[]>;
}

/** `known`: existing statistics over all rows, used if no row is skipped. */
export async function cloudSummary(
  state: CloudState,
  skip: NativeColumn | null,
  job: Job,
  known: ColumnStatistics = new Map(),
): Promise<CloudSummary> {
  const cloud = await job.track(() => native.cloudStats(positionsColumn(state), skip));
  const extras = state.meta.extra_dims_meta.flatMap(({ slug, hidden }) => {
    const column = hidden ? undefined : state.columns.get(extraKey(slug));
    return column ? [{ slug, column }] : [];
  });
  const rows = rowsOf(state);
  for (const { column } of extras) if (skip === null) remember(column, rows, known.get(column.native));
  const unknown = extras.filter(({ column }) => !remembered(column, rows)).map(({ column }) => column);
  const measured = await measureColumns(
    unknown.map((column) => column.native),
    skip,
    job,
  );
  for (const column of unknown) remember(column, rows, measured.get(column.native));
  const ranges: Record<string, [number, number]> = {};
  const classes: Record<string, number[]> = {};
  for (const { slug, column: values } of extras) {
    const column = remembered(values, rows);
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

/** Identity of the columns that decide which rows count. */
interface Rows {
  readonly is_miss: object | undefined;
  readonly deleted: object | undefined;
}

const rowsOf = ({ columns }: CloudState): Rows => ({
  is_miss: columns.get(extraKey(MISS_SLUG))?.content,
  deleted: columns.get("deleted")?.content,
});

/** The last statistics of each column and the rows they cover. Columns never change, so they stay valid. */
const lastStats = new WeakMap<object, { readonly rows: Rows; readonly stats: ColumnStats }>();

function remembered({ content }: ColumnRef, { is_miss, deleted }: Rows): ColumnStats | undefined {
  const last = lastStats.get(content);
  return last && last.rows.is_miss === is_miss && last.rows.deleted === deleted ? last.stats : undefined;
}

function remember({ content }: ColumnRef, rows: Rows, stats: ColumnStats | undefined): void {
  if (stats) lastStats.set(content, { rows, stats });
}
