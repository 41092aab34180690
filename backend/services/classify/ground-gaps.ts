import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { optionalExtra } from "../octree/columns.ts";
import { knownClasses } from "../run/known-classes.ts";

/** The value of rows that were no surviving hits when the ground was segmented. */
const UNCLASSIFIED = 0;
const PLANT = 2;

/**
 * Warns of hits that have no ground class beside others that have one: an undo or a merge brought them after the ground
 * was segmented. `effect`: a sentence on what that means for the caller's result. Columns without plants are those of
 * other programs, where 0 may mean any class.
 */
export async function unclassifiedWarnings(
  ground: NativeColumn | null,
  skip: NativeColumn | null,
  effect: string,
  job: Job,
): Promise<string[]> {
  if (!ground) return [];
  const classes = await knownClasses(ground, skip, job);
  const count = classes?.counts[classes.values.indexOf(UNCLASSIFIED)] ?? 0;
  if (count === 0 || !classes?.values.includes(PLANT)) return [];
  const which = count === 1 ? "1 point has" : `${count} points have`;
  const were = count === 1 ? "it was" : "they were";
  return [
    `${which} no ground class, because ${were} deleted or in another cloud when the ground was segmented. ${effect} Segment the ground again.`,
  ];
}

/** Warns of heights that a new ground leaves as they were. */
export const formerHeights = (state: CloudState): string[] =>
  optionalExtra(state, "height_above_ground")
    ? [
        "The column height_above_ground still has the heights above the former ground, and inventories use them: compute it again (POST dem with add_height_column true).",
      ]
    : [];
