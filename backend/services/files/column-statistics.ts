import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Statistics of scalar columns, by column. */
export type ColumnStatistics = ReadonlyMap<NativeColumn, native.ColumnStats>;

/** Measures columns over the rows that `skip` does not mark. */
export async function measureColumns(
  columns: readonly NativeColumn[],
  skip: NativeColumn | null,
  job: Job,
): Promise<ColumnStatistics> {
  const statistics = new Map<NativeColumn, native.ColumnStats>();
  if (columns.length === 0) return statistics;
  const results = await job.track(() => native.columnStats(columns, skip));
  for (const [i, column] of columns.entries()) {
    const found = results[i];
    if (found) statistics.set(column, found);
  }
  return statistics;
}
