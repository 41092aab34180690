import type { Job } from "../../jobs/job.ts";
import { beamOriginsOfScans } from "../../native/classify/denoise.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { pointsColumn } from "../run/points.ts";
import { fixedColumn, optionalExtra } from "./columns.ts";

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
    return job.adopt(new ColumnRef(await job.track(() => beamOriginsOfScans(scanIndex, scan_origins)))).native;
  }
  return miss_octree_origin ? job.adopt(pointsColumn([[...miss_octree_origin]])).native : null;
}
