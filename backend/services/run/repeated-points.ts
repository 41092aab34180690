import type { Job } from "../../jobs/job.ts";
import * as cloud from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Share of the points at the place of another one from which it is told. */
export const TOLD_REPEATED = 0.05;
const SAMPLES = 20_000;

/** A warning for points that come twice, as neighbours of each other; `consequence` tells what that does to the result. */
export const repeatedWarning = (share: number, consequence: string): string[] =>
  share < TOLD_REPEATED
    ? []
    : [
        `About ${Math.round(100 * share)} % of the points stand at the place of another one, which counts as a neighbour: ${consequence}. Was a file imported or merged twice?`,
      ];

/** Share of a sample of the points that stand at the place of another one. */
export async function repeatedShare(positions: NativeColumn, skip: NativeColumn | null, job: Job): Promise<number> {
  const params = { max_samples: SAMPLES, seed: null };
  const { duplicate_count, sampled_count } = await job.track(() => cloud.pointSpacing(positions, skip, params));
  return sampled_count > 0 ? duplicate_count / sampled_count : 0;
}
