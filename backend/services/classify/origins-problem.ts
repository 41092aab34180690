import type { Job } from "../../jobs/job.ts";
import { beamConsistency } from "../../native/classify/denoise.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Share of points that may contradict their origins: noise does; wrong origins begin at 23 % (docs/accuracy.md, denoise). */
const MOST_INCONSISTENT = 0.02;

/** Why the origins of points cannot tell where they were seen from; null = they can. */
export async function originsProblem(points: NativeColumn, origins: NativeColumn, job: Job): Promise<string | null> {
  const { unknown_count, is_measured, inconsistent_share } = await job
    .quiet()
    .track(() => beamConsistency(points, origins));
  if (unknown_count > 0) return `${unknown_count} of ${points.length} points have no beam origin`;
  if (!is_measured || inconsistent_share <= MOST_INCONSISTENT) return null;
  return `${(100 * inconsistent_share).toFixed(1)} % of the points contradict their beam origins, as if they were seen from another place`;
}
