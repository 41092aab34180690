import type { Job } from "../../../jobs/job.ts";
import { cloudStats } from "../../../native/cloud/cloud.ts";
import { selectRows } from "../../../native/cloud/edit.ts";
import { combineMasks } from "../../../native/cloud/masks.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import type { CloudState } from "../../../sessions/cloud-session.ts";
import type { Triple } from "../../../sessions/column-names.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { optionalExtra, positionsColumn } from "../../octree/columns.ts";
import { type PresentScan, presentScans } from "./present-scans.ts";

/** Misses this near to the scanner have no direction: the file did not tell it, metres. */
const UNPLACED_M = 1e-3;

interface MissRows {
  /** Mask of the misses. */
  readonly misses: NativeColumn;
  /** Only its misses count; undefined = all do, each against the position of its scan. */
  readonly only: PresentScan | undefined;
  /** Of misses whose scan states no position. */
  readonly origin: Triple;
}

/** True if misses of a cloud have a direction. */
export async function hasPlacedMisses(
  state: CloudState,
  { misses, only, origin }: MissRows,
  job: Job,
): Promise<boolean> {
  const scans = only ? [only] : await presentScans(state, null, job);
  if (scans.length === 0) return hasOthersThan(origin, { misses, of: null }, state, job);
  for (const scan of scans) {
    const of = await rowsOfScan(scan, state, job);
    if (await hasOthersThan(scan.origin ?? origin, { misses, of }, state, job)) return true;
  }
  return false;
}

/** Mask of the rows of a scan; null without the column. The run owns it. */
async function rowsOfScan({ scan_index }: PresentScan, state: CloudState, job: Job): Promise<NativeColumn | null> {
  const column = optionalExtra(state, "scan_index");
  if (!column) return null;
  const filters = [{ column, min: -Infinity, max: Infinity, values: [scan_index] }];
  const found = await job.track(() => selectRows({ positions: positionsColumn(state), regions: [], filters }));
  return job.adopt(new ColumnRef(found)).native;
}

interface CountedMisses {
  readonly misses: NativeColumn;
  /** The rows that count; null = all. */
  readonly of: NativeColumn | null;
}

/** Whether misses are elsewhere than at the scanner. */
async function hasOthersThan(
  origin: Triple,
  { misses, of }: CountedMisses,
  state: CloudState,
  job: Job,
): Promise<boolean> {
  const others = [misses, ...(of ? [of] : [])].map((mask) => ({ mask, invert: true }));
  const { mask } = await job.track(() => combineMasks(others, "or"));
  const skip = job.adopt(new ColumnRef(mask)).native;
  const { bounds } = await job.track(() => cloudStats(positionsColumn(state), skip));
  if (!bounds) return false;
  return [0, 1, 2].some((k) => {
    const [least, most, at] = [bounds.min[k] ?? 0, bounds.max[k] ?? 0, origin[k] ?? 0];
    return Math.max(Math.abs(least - at), Math.abs(most - at)) > UNPLACED_M;
  });
}
