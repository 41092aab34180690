import type { Job } from "../../jobs/job.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { type Hits, hitsWithout } from "./noise-rows.ts";

/** LAS 1.4: building; wire guard, wire conductor, transmission tower, wire connector; bridge deck. */
export const STRUCTURES = [6, 13, 14, 15, 16, 17];

/** The hits that their LAS class does not name as built. The run owns the mask. */
export async function withoutStructures(state: CloudState, hits: Hits, job: Job): Promise<Hits> {
  const column = optionalExtra(state, "las_classification");
  return column ? hitsWithout([{ column, values: STRUCTURES }], positionsColumn(state), hits, job) : hits;
}

const built = (count: number) =>
  `${count} ${count === 1 ? "point" : "points"} labelled as buildings, wires, towers or bridges (LAS classes 6 and 13 to 17)`;

/** What a person must know about points that were left out of trees as built. */
export function structureWarnings(count: number): string[] {
  if (count <= 0) return [];
  return [
    `${built(count)} ${count === 1 ? "belongs" : "belong"} to no tree. Where these classes mean something else, send skip_structures false.`,
  ];
}

/** What a person must know about built things in the heights of a canopy. */
export async function canopyStructureWarnings(state: CloudState, hits: Hits, job: Job): Promise<string[]> {
  const count = hits.hit_count - (await withoutStructures(state, hits, job)).hit_count;
  if (count <= 0) return [];
  return [
    `${built(count)} ${count === 1 ? "counts" : "count"} as canopy, of ${hits.hit_count} in all: heights over them are not those of plants. Delete or extract them first if only plants should count.`,
  ];
}
