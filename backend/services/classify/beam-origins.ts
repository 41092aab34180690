import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/classify/denoise.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { pointsColumn } from "../run/points.ts";

/**
 * Where the beams of a cloud come from, stored frame: one vec3d per row or one for all; null if that is not known.
 * From the column beam_origins, else from the scanner positions by scan number, else from that of the only scan. The run
 * owns a new column.
 */
export async function beamOrigins(state: CloudState, job: Job): Promise<NativeColumn | null> {
  const column = fixedColumn(state, "beam_origins");
  if (column) return column;
  const { scan_origins, miss_octree_origin } = state.meta;
  if (scan_origins && scan_origins.length > 0) {
    const scanIndex = optionalExtra(state, "scan_index");
    if (!scanIndex) return null;
    return job.adopt(new ColumnRef(await job.track(() => native.beamOriginsOfScans(scanIndex, scan_origins)))).native;
  }
  return miss_octree_origin ? job.adopt(pointsColumn([[...miss_octree_origin]])).native : null;
}

/** Share of points that may contradict their origins: noise does; wrong origins begin at 23 % (docs/accuracy.md, denoise). */
const MOST_INCONSISTENT = 0.02;

/** Why the origins of points cannot tell where they were seen from; null = they can. */
export async function originsProblem(points: NativeColumn, origins: NativeColumn, job: Job): Promise<string | null> {
  const { unknown_count, is_measured, inconsistent_share } = await job
    .quiet()
    .track(() => native.beamConsistency(points, origins));
  if (unknown_count > 0) return `${unknown_count} of ${points.length} points have no beam origin`;
  if (!is_measured || inconsistent_share <= MOST_INCONSISTENT) return null;
  return `${(100 * inconsistent_share).toFixed(1)} % of the points contradict their beam origins, as if they were seen from another place`;
}
