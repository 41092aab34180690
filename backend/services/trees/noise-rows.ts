import type { Job } from "../../jobs/job.ts";
import { selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";

/** Columns that name noise, and the values that do: those of denoise, and of LAS 1.4 (low point, high noise). */
const NOISE_VALUES: readonly (readonly [slug: string, values: readonly number[]])[] = [
  ["noise_class", [2]],
  ["las_classification", [7, 18]],
];

/** Hits and the rows that are none. */
export interface Hits {
  /** u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
}

/** The hits that no column names as noise. The run owns the mask. */
export async function withoutNoise(state: CloudState, hits: Hits, job: Job): Promise<Hits> {
  const positions = positionsColumn(state);
  const masks: NativeColumn[] = hits.skip ? [hits.skip] : [];
  const before = masks.length;
  for (const [slug, values] of NOISE_VALUES) {
    const column = optionalExtra(state, slug);
    if (!column) continue;
    const filters = [{ column, min: -Infinity, max: Infinity, values: [...values] }];
    const noise = await job.track(() => selectRows({ positions, regions: [], filters }));
    masks.push(job.adopt(new ColumnRef(noise)).native);
  }
  if (masks.length === before) return hits;
  const terms = masks.map((mask) => ({ mask, invert: false }));
  const left = await job.track(() => combineMasks(terms, "or"));
  const skip = job.adopt(new ColumnRef(left.mask)).native;
  return { skip, hit_count: positions.length - left.count };
}

/** What a person must know about points that were left out as noise. */
export function noiseWarnings(count: number): string[] {
  if (count <= 0) return [];
  const what = count === 1 ? "1 point that is" : `${count} points that are`;
  return [
    `${what} labelled as noise (noise_class 2, LAS classes 7 and 18) belong${count === 1 ? "s" : ""} to no tree.`,
  ];
}
