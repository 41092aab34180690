import type { Box } from "../../../shared/contract/geometry.ts";
import type { Job } from "../../jobs/job.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import { selectRows } from "../../native/cloud/edit.ts";
import { combineMasks } from "../../native/cloud/masks.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";

const NOISE = 2;
/** Columns that name noise, and the values that do: those of denoise, and of LAS 1.4 (low point, high noise). */
const NOISE_VALUES: readonly (readonly [slug: string, values: readonly number[]])[] = [
  ["noise_class", [NOISE]],
  ["las_classification", [7, 18]],
];

export const NOISE_SLUGS = NOISE_VALUES.map(([slug]) => slug);

/** Hits and the rows that are none. */
export interface Hits {
  /** u8 per row, non-zero = no hit; null = all rows are hits. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
}

/** The hits that no column names as noise. The run owns the mask. */
export async function withoutNoise(state: CloudState, hits: Hits, job: Job): Promise<Hits> {
  const columns = NOISE_VALUES.flatMap(([slug, values]) => {
    const column = optionalExtra(state, slug);
    return column ? [{ column, values }] : [];
  });
  return columns.length > 0 ? hitsWithout(columns, positionsColumn(state), hits, job) : hits;
}

/** What flat requests, which use all hits of a source, must say of those that are labelled as noise. */
export async function noiseTakesPart(state: CloudState, hits: Hits, job: Job): Promise<string[]> {
  const clean = await withoutNoise(state, hits, job);
  return noiseWarnings(hits.hit_count - clean.hit_count, [
    "takes part here; delete it first if it should not",
    "take part here; delete them first if they should not",
  ]);
}

/** The box around the hits that new labels of denoise do not name as noise; null if they name all. */
export async function boundsWithoutNoise(
  labels: NativeColumn,
  positions: NativeColumn,
  hits: Hits,
  job: Job,
): Promise<Box | null> {
  return boundsOf(positions, await hitsWithout([{ column: labels, values: [NOISE] }], positions, hits, job), job);
}

/** The box around hits; null if there are none. */
export async function boundsOf(positions: NativeColumn, { skip }: Hits, job: Job): Promise<Box | null> {
  const { bounds } = await job.track(() => cloudStats(positions, skip));
  return bounds && { min: [...bounds.min], max: [...bounds.max] };
}

/** A column, and the values of what is left out. */
interface NamingColumn {
  readonly column: NativeColumn;
  readonly values: readonly number[];
}

/** The hits that have none of some values in columns. The run owns the mask. */
export async function hitsWithout(
  columns: readonly NamingColumn[],
  positions: NativeColumn,
  hits: Hits,
  job: Job,
): Promise<Hits> {
  const masks: NativeColumn[] = hits.skip ? [hits.skip] : [];
  for (const { column, values } of columns) {
    const filters = [{ column, min: -Infinity, max: Infinity, values: [...values] }];
    const noise = await job.track(() => selectRows({ positions, regions: [], filters }));
    masks.push(job.adopt(new ColumnRef(noise)).native);
  }
  const terms = masks.map((mask) => ({ mask, invert: false }));
  const left = await job.track(() => combineMasks(terms, "or"));
  const skip = job.adopt(new ColumnRef(left.mask)).native;
  return { skip, hit_count: positions.length - left.count };
}

/** What a person must know about points that were left out as noise; `effect`: what one of them, what several do. */
export function noiseWarnings(count: number, [of_one, of_many]: readonly [string, string]): string[] {
  if (count <= 0) return [];
  const what = count === 1 ? "1 point that is" : `${count} points that are`;
  return [`${what} labelled as noise (noise_class 2, LAS classes 7 and 18) ${count === 1 ? of_one : of_many}.`];
}
