import type { Job } from "../../jobs/job.ts";
import { type ClassCounts, selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";

/** Echo number of a pulse without a return. */
const MISS_RETURN = 99;

/** How a cloud numbers the returns of a pulse. */
export interface ReturnNumbering {
  /** Number of the first return; null if no row has a number. */
  readonly first: number | null;
  /** Rows with it. */
  readonly first_count: number;
  /** Rows with 0 although returns count from 1: their return is unknown. */
  readonly unknown_count: number;
}

export interface NumberedRows {
  readonly positions: NativeColumn;
  readonly target_index: NativeColumn;
  readonly target_count: NativeColumn | null;
}

/**
 * The numbering of rows whose target_index has the values `found`. It starts at the lowest value, or at 1 where fewer rows
 * have 0 than 1: a pulse with a second return has a first one. A cloud that counts from 0 and lost first returns is known
 * by target_count, which none of its rows reaches.
 */
export async function returnNumbering(rows: NumberedRows, found: ClassCounts, job: Job): Promise<ReturnNumbering> {
  const values = found.values.filter((value) => value !== MISS_RETURN);
  const rowsOf = (value: number) => found.counts[found.values.indexOf(value)] ?? 0;
  const [first = null] = values; // values ascend
  if (first === null) return { first, first_count: 0, unknown_count: 0 };
  const from_one = first === 0 && rowsOf(0) < rowsOf(1) && (await reachesCount(rows, values, job));
  return from_one
    ? { first: 1, first_count: rowsOf(1), unknown_count: rowsOf(0) }
    : { first, first_count: rowsOf(first), unknown_count: 0 };
}

/** Whether a row is the last return of its pulse when counted from 1; true if the counts are unknown. */
async function reachesCount(
  { positions, target_index, target_count }: NumberedRows,
  values: readonly number[],
  job: Job,
): Promise<boolean> {
  if (!target_count) return true;
  for (const value of values.filter((one) => one > 0)) {
    const filter = { min: -Infinity, max: Infinity, values: [value] };
    const filters = [target_index, target_count].map((column) => ({ ...filter, column }));
    const selected = await job.track(() => selectRows({ positions, regions: [], filters }));
    const mask = job.adopt(new ColumnRef(selected)).native;
    const last = await job.track(() => combineMasks([{ mask, invert: false }], "and"));
    job.adopt(new ColumnRef(last.mask));
    if (last.count > 0) return true;
  }
  return false;
}
