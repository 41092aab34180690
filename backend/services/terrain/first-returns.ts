import type { Job } from "../../jobs/job.ts";
import { type ReturnNumbering, returnNumbering } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { DemCloud } from "./dem-cloud.ts";
import { type ChosenRows, FEWEST, rowsWith } from "./ground-rows.ts";

export interface FirstReturns extends ChosenRows {
  readonly surface_source: "first_return" | "all_points";
}

/**
 * The first return of each pulse, numbered from 0 or from 1, and the hits whose return is unknown; all hits if return
 * numbers are unknown.
 */
export async function firstReturns(cloud: DemCloud, job: Job): Promise<FirstReturns> {
  const all = { skip: cloud.skip, count: cloud.hit_count, surface_source: "all_points" } as const;
  const { returns } = cloud;
  if (!returns || cloud.hit_count === 0) return all;
  const { first, unknown_count } = await numberingOf(cloud, returns, job);
  if (first === null) return all;
  const chosen = await rowsWith(cloud, returns, unknown_count > 0 ? [0, first] : [first], job);
  return chosen.count < FEWEST ? all : { ...chosen, surface_source: "first_return" };
}

/** Counts the hits whose return is unknown. */
export async function returnWarnings(cloud: DemCloud, job: Job): Promise<string[]> {
  const { returns } = cloud;
  if (!returns || cloud.hit_count === 0) return [];
  const { first_count, unknown_count: count } = await numberingOf(cloud, returns, job);
  if (count === 0) return [];
  const [have, are, what] =
    count === 1
      ? ["1 point has", "its return is unknown, and it counts as a first return", "Delete it if it is not"]
      : [
          `${count} points have`,
          "their return is unknown, and they count as first returns",
          "Delete them if they are not",
        ];
  return [`${have} return number 0 beside ${first_count} with 1: ${are}. ${what}.`];
}

const numberingOf = (
  { skip, return_counts }: DemCloud,
  target_index: NativeColumn,
  job: Job,
): Promise<ReturnNumbering> => job.track(() => returnNumbering(target_index, return_counts, skip));
