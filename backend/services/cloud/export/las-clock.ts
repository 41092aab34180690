import type { Job } from "../../../jobs/job.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import type { CloudViewInput } from "../../../native/files/writers.ts";
import type { CloudMeta } from "../../../sessions/cloud-session.ts";

const WEEK_S = 604_800;

type Clock = Pick<CloudMeta, "gps_time_encoding" | "constant_dimensions">;

/** Warns of times in a LAS file that are no seconds of a week, although the file says so because their clock is not known. */
export async function clockWarnings(
  { gps_time_encoding, constant_dimensions }: Clock,
  { timestamps, skip }: Pick<CloudViewInput, "timestamps" | "skip">,
  job: Job,
): Promise<string[]> {
  if (gps_time_encoding !== null) return [];
  const constant = constant_dimensions?.find(({ name }) => name === "gps_time")?.value ?? 0;
  const [stats] = timestamps ? await job.track(() => cloud.columnStats([timestamps], skip)) : [];
  const [low, high] = timestamps ? [stats?.min ?? 0, stats?.max ?? 0] : [constant, constant];
  if (low >= 0 && high <= WEEK_S) return [];
  return [
    `The clock of the times, ${low} to ${high} s, is not known. A LAS file says either seconds of the GPS week, 0 to ${WEEK_S}, or adjusted standard GPS time (less 1e9 s); this one says seconds of the week, although they are not.`,
  ];
}
