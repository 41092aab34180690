import type { Job } from "../../../jobs/job.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import type { CloudState } from "../../../sessions/cloud-session.ts";
import type { Triple } from "../../../sessions/column-names.ts";
import { optionalExtra } from "../../octree/columns.ts";
import { knownClasses } from "../../run/known-classes.ts";

/** A scan of a file of several. */
export interface PresentScan {
  readonly scan_index: number;
  /** Stored frame; null if the file does not state it. */
  readonly origin: Triple | null;
}

/** Number of scans that the rows without `skip` belong to by their scan_index, whether the file states positions or not. */
export async function scanCount(state: CloudState, skip: NativeColumn | null, job: Job): Promise<number> {
  const column = optionalExtra(state, "scan_index");
  const found = column && (await knownClasses(column, skip, job));
  return found ? found.values.length : 1;
}

/**
 * The scans that the rows without `skip` belong to, by scan_index; those of the file if the rows do not tell; [] for a cloud
 * that is no part of a file of several scans.
 */
export async function presentScans(
  state: CloudState,
  skip: NativeColumn | null,
  job: Job,
): Promise<readonly PresentScan[]> {
  const stated = state.meta.scan_origins ?? [];
  const column = stated.length > 0 ? optionalExtra(state, "scan_index") : null;
  const found = column && (await knownClasses(column, skip, job));
  if (!found) return stated;
  return [...found.values].map((scan_index) => {
    const scan = stated.find((one) => one.scan_index === scan_index);
    return { scan_index, origin: scan?.origin ?? null };
  });
}
