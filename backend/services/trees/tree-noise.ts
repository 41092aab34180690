import type { Job } from "../../jobs/job.ts";
import { selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type Hits, withoutNoise } from "../classify/noise-rows.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";

/** The hits that take part in a run. */
export interface TreeHits extends Hits {
  /** All hits, noise too: u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly deleted: NativeColumn | null;
  /** Hits that are left out as noise. */
  readonly noise_count: number;
}

/** The hits of a session, without those that a column names as noise if `skip_noise`. The run owns the masks. */
export async function treeHits(state: CloudState, skip_noise: boolean, job: Job): Promise<TreeHits> {
  const hits = await surviving(state, job);
  const { skip, hit_count } = skip_noise ? await withoutNoise(state, hits, job) : hits;
  return { skip, hit_count, deleted: hits.skip, noise_count: hits.hit_count - hit_count };
}

/** u8 per row, 1 = it has a tree number; the run owns it. */
export async function numberedRows(positions: NativeColumn, trees: NativeColumn, job: Job): Promise<NativeColumn> {
  const filters = [{ column: trees, min: 0.5, max: Infinity, values: [] }];
  return job.adopt(new ColumnRef(await job.track(() => selectRows({ positions, regions: [], filters })))).native;
}

/** How many of the hits that are left out as noise have a tree number. */
export async function noiseInTrees(
  state: CloudState,
  trees: NativeColumn,
  { skip, deleted, noise_count }: TreeHits,
  job: Job,
): Promise<number> {
  if (noise_count === 0 || !skip) return 0;
  const numbered = await numberedRows(positionsColumn(state), trees, job);
  const terms = [
    { mask: numbered, invert: false },
    { mask: skip, invert: false },
    ...(deleted ? [{ mask: deleted, invert: true }] : []),
  ];
  const both = await job.track(() => combineMasks(terms, "and"));
  job.adopt(new ColumnRef(both.mask));
  return both.count;
}

/** What left out noise means for trees, in the words of noiseWarnings; `numbered`: how many of its points have a tree number. */
export function treeNoiseEffect(numbered: number): readonly [string, string] {
  if (numbered === 0) return ["belongs to no tree", "belong to no tree"];
  const have = numbered === 1 ? "has" : "have";
  return [
    "belongs to no tree, although it has a tree number",
    `belong to no tree, although ${numbered} of them ${have} a tree number`,
  ];
}
