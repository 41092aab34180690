import type { Job } from "../../jobs/job.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { type Hits, hitsWithout } from "./noise-rows.ts";

/** LAS 1.4: building; wire guard, wire conductor, transmission tower, wire connector; bridge deck. */
const STRUCTURES = [6, 13, 14, 15, 16, 17];

/** The hits that their LAS class does not name as built. The run owns the mask. */
export async function withoutStructures(state: CloudState, hits: Hits, job: Job): Promise<Hits> {
  const column = optionalExtra(state, "las_classification");
  return column ? hitsWithout([{ column, values: STRUCTURES }], positionsColumn(state), hits, job) : hits;
}

/** What a person must know about points that were left out of trees as built. */
export function structureWarnings(count: number): string[] {
  if (count <= 0) return [];
  const [what, belong] = count === 1 ? ["point", "belongs"] : ["points", "belong"];
  return [
    `${count} ${what} labelled as buildings, wires, towers or bridges (LAS classes 6 and 13 to 17) ${belong} to no tree. Where these classes mean something else, send skip_structures false.`,
  ];
}
