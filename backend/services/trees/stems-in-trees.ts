import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/stems.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { TREE_SLUG } from "../../sessions/tree-version.ts";
import { optionalExtra, positionsColumn } from "../octree/columns.ts";
import { HEIGHT_SLUG } from "../terrain/dem.ts";

/** cpp/ops/trees/trunk_layer.h: the layer of trees that are not low begins here, metres. */
const FOREST_LAYER_M = 1;
const NAMED = 5;

/** Memory of severalStemsWarnings, bytes. */
export const stemsInTreesBytes = (rows: number, hits: number) => 8 * rows + 36 * hits + native.stemDetectionBytes(hits);

/**
 * Names the trees that hold several stems at breast height, and says why if stems cannot be looked for; nothing where heights
 * above the ground are not known. `ids`: the trees that were asked for, null = all.
 */
export async function severalStemsWarnings(
  base: CloudState,
  skip: NativeColumn | null,
  ids: readonly number[] | null,
  job: Job,
): Promise<string[]> {
  const [heights, trees] = [optionalExtra(base, HEIGHT_SLUG), optionalExtra(base, TREE_SLUG)];
  if (!heights || !trees) return [];
  const ground = optionalExtra(base, "ground_class");
  try {
    const found = await job.track(() => native.treesOfStems(positionsColumn(base), skip, heights, ground, trees));
    return severalText(found, ids && new Set(ids));
  } catch (raw) {
    const { code, message } = fromNative(raw);
    if (job.canceled || code !== "invalid_argument") throw raw;
    return [`Whether trees hold several stems was not looked at: ${message}.`];
  }
}

/**
 * Stems by their trees: of a plot at breast height; of low trees where their trunks are, as most part into limbs below breast
 * height.
 */
function severalText({ trees: stems, min_m, max_m }: native.TreesOfStems, ids: ReadonlySet<number> | null): string[] {
  const counts = new Map<number, number>();
  for (const tree of stems) if (tree > 0) counts.set(tree, (counts.get(tree) ?? 0) + 1);
  const several = [...counts]
    .filter(([tree, count]) => count > 1 && (ids === null || ids.has(tree)))
    .toSorted(([a, m], [b, n]) => n - m || a - b);
  if (several.length === 0) return [];
  const total = several.reduce((sum, [, count]) => sum + count, 0);
  const named = several.slice(0, NAMED).map(([tree, count]) => `tree ${tree}: ${count}`);
  const more = several.length > NAMED ? ", .." : "";
  const is_low = min_m < FOREST_LAYER_M;
  const where = is_low ? `${min_m.toFixed(1)} to ${max_m.toFixed(1)} m above the ground` : "at breast height";
  const unless = is_low ? "Unless they fork below it, or are limbs that hang" : "Unless they fork below it";
  return [
    `${total} stems were found ${where} in ${several.length === 1 ? "one tree" : `${several.length} trees`} (${named.join(", ")}${more}). ${unless}, their diameter, height and crown are those of several trees, and there are too few trees: segment the trees again with method auto or with seed_points.`,
  ];
}
