import type { Job } from "../../jobs/job.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { knownClasses } from "../run/known-classes.ts";
import { returnNumbering } from "../run/return-numbering.ts";

const RETURN_SLUGS: ReadonlySet<string> = new Set(["target_index", "target_count"]);

/** What fills an extra column for the points of clouds without it. */
export type FillOf = (slug: string) => number;

/**
 * 0, but 1 for the return numbers if all clouds that have them count from 1: a point of which nothing is known is return 1
 * of 1, as in a LAS export.
 */
export async function returnFill(states: readonly CloudState[], job: Job): Promise<FillOf> {
  const numbered: boolean[] = [];
  for (const state of states) {
    const from_one = await countsFromOne(state, job);
    if (from_one !== null) numbered.push(from_one);
  }
  const one = numbered.length > 0 && numbered.every(Boolean);
  return (slug) => (one && RETURN_SLUGS.has(slug) ? 1 : 0);
}

/** Null: the cloud has no return numbers. */
async function countsFromOne(state: CloudState, job: Job): Promise<boolean | null> {
  const target_index = optionalExtra(state, "target_index");
  if (!target_index) return null;
  const found = await knownClasses(target_index, fixedColumn(state, "deleted"), job);
  if (!found) return false;
  const rows = { positions: positionsColumn(state), target_index, target_count: optionalExtra(state, "target_count") };
  const { first } = await returnNumbering(rows, found, job);
  return first === null ? null : first >= 1;
}
