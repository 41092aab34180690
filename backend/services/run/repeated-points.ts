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

/** Spacing of a sample of the points. */
export const sampledSpacing = (
  positions: NativeColumn,
  skip: NativeColumn | null,
  job: Job,
): Promise<cloud.PointSpacing> =>
  job.track(() => cloud.pointSpacing(positions, skip, { max_samples: SAMPLES, seed: null }));

/** Share of a sample that stands at the place of another point. */
export const repeatedShare = ({ duplicate_count, sampled_count }: cloud.PointSpacing): number =>
  sampled_count > 0 ? duplicate_count / sampled_count : 0;
