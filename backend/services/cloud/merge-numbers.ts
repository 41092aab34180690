import type { Job } from "../../jobs/job.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { fixedColumn, optionalExtra } from "../octree/columns.ts";
import { knownClasses } from "../run/known-classes.ts";

/** The numbers that more than one cloud has. */
export function sharedBy(clouds: readonly (readonly number[])[]): number[] {
  const counts = new Map<number, number>();
  for (const numbers of clouds) for (const id of numbers) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1).map(([id]) => id);
}

/** The different numbers of the points that are not deleted; [] without the column or with too many of them. */
export async function numbersOf(state: CloudState, slug: string, job: Job): Promise<readonly number[]> {
  const column = optionalExtra(state, slug);
  if (!column) return [];
  return [...((await knownClasses(column, fixedColumn(state, "deleted"), job))?.values ?? [])];
}
