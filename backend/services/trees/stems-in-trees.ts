import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/stems.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { TREE_SLUG } from "../../sessions/tree-version.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { HEIGHT_SLUG } from "../terrain/dem.ts";

/** The layer of method auto: cpp/ops/trees/path_trees.cpp. */
const LAYER = { band_min_m: 1, band_max_m: 2, max_diameter_m: 3 };
const NAMED = 5;

/** Memory of stemsInTrees, bytes. */
export const stemsInTreesBytes = (rows: number, hits: number) => 8 * rows + 36 * hits + native.stemDetectionBytes(hits);

/** Stems at breast height of the trees that have several, by tree; none where heights above the ground are not known. */
export async function stemsInTrees(
  base: CloudState,
  skip: NativeColumn | null,
  job: Job,
): Promise<ReadonlyMap<number, number>> {
  const [heights, trees] = [optionalExtra(base, HEIGHT_SLUG), optionalExtra(base, TREE_SLUG)];
  if (!heights || !trees) return new Map();
  const ground = optionalExtra(base, "ground_class");
  const found = await job.track(() => native.treesOfStems(positionsColumn(base), skip, heights, ground, trees, LAYER));
  const counts = new Map<number, number>();
  for (const tree of found) if (tree > 0) counts.set(tree, (counts.get(tree) ?? 0) + 1);
  return new Map([...counts].filter(([, count]) => count > 1));
}

/** A sentence that names the trees with several stems; `ids`: the trees that were asked for, null = all. */
export function severalStemsWarnings(several: ReadonlyMap<number, number>, ids: readonly number[] | null): string[] {
  const trees = [...several]
    .filter(([tree]) => ids === null || ids.includes(tree))
    .toSorted(([a, m], [b, n]) => n - m || a - b);
  if (trees.length === 0) return [];
  const stems = trees.reduce((sum, [, count]) => sum + count, 0);
  const named = trees.slice(0, NAMED).map(([tree, count]) => `tree ${tree}: ${count}`);
  const more = trees.length > NAMED ? ", .." : "";
  return [
    `${stems} stems were found at breast height in ${trees.length === 1 ? "one tree" : `${trees.length} trees`} (${named.join(", ")}${more}). Unless they fork below it, their diameter, height and crown are those of several trees, and there are too few trees: segment the trees again with method auto or with seed_points.`,
  ];
}
