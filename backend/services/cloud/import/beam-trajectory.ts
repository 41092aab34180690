import type { z } from "zod";
import type { ScanParams } from "../../../../shared/contract/cloud-session/create.ts";
import type { Job } from "../../../jobs/job.ts";
import * as native from "../../../native/cloud/cloud.ts";
import type { CloudState } from "../../../sessions/cloud-session.ts";
import { fixedColumn } from "../../octree/columns.ts";

/** Most poses of a trajectory in an answer. */
const MAX_POSES = 3000;

interface TrajectoryResult {
  readonly params: z.infer<typeof ScanParams> | null;
  readonly warnings: string[];
}

/** The scanner's path from the beam origin of each pulse, true world; null without origins or usable times. */
export async function trajectoryParams(state: CloudState, job: Job): Promise<TrajectoryResult> {
  const origins = fixedColumn(state, "beam_origins");
  if (!origins) return { params: null, warnings: [] };
  const times = fixedColumn(state, "timestamps");
  const path = times && (await job.track(() => native.beamTrajectory(times, origins, MAX_POSES)));
  const [first] = path?.poses ?? [];
  if (!path || !first || path.poses.length < 2) {
    return {
      params: null,
      warnings: ["The beam origins have no usable times to order them: they are used, but no trajectory is made."],
    };
  }
  const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
  const poses = path.poses.map(([t, x, y, z]) => ({ t, x: x + sx, y: y + sy, z: z + sz, qx: 0, qy: 0, qz: 0, qw: 1 }));
  const trajectory = {
    poses,
    frame: { crs: null, up_axis: "z" as const, body_convention: "FLU" as const, time_ref: "gps" },
    lever_arm: [0, 0, 0] as [number, number, number],
    boresight_rpy: [0, 0, 0] as [number, number, number],
    source_format: "las_extrabytes" as const,
  };
  return { params: { origin: [first[1] + sx, first[2] + sy, first[3] + sz], trajectory }, warnings: [] };
}
