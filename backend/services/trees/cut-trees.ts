import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { type CutTree, cutTrees } from "../../native/cut-trees.ts";

/** Trees that the border of a cloud cuts, by their number. */
export type CutTrees = ReadonlyMap<number, CutTree>;

const NAMED = 5;

/** Of the rows that `skip` does not mark; `trees` null = the cloud is tree 1. */
export async function cutTreesOf(
  positions: NativeColumn,
  skip: NativeColumn | null,
  trees: NativeColumn | null,
  job: Job,
): Promise<CutTrees> {
  const found = await job.track(() => cutTrees(positions, skip, trees));
  return new Map(found.map((tree) => [tree.tree_id, tree]));
}

/** How a tree ends: "along 4.2 m of its border and above". */
function endOf({ width_m, top }: CutTree): string {
  const side = width_m > 0 ? [`along ${width_m.toFixed(1)} m of its border`] : [];
  return [...side, ...(top ? ["above"] : [])].join(" and ");
}

/** That trees are cut, and which; `effect`: what it does to the answer, a sentence. `of`: how many trees were looked at. */
export function cutWarnings(cut: readonly CutTree[], of: number, effect: string): string[] {
  const [first] = cut;
  if (!first) return [];
  if (of === 1)
    return [`The tree ends where the cloud was cut, ${endOf(first)}: what lies beyond is missing. ${effect}`];
  const widest = cut.toSorted((a, b) => b.width_m - a.width_m || a.tree_id - b.tree_id);
  const named = widest.slice(0, NAMED).map((tree) => `tree ${tree.tree_id} ${endOf(tree)}`);
  const more = cut.length > NAMED ? ", .." : "";
  return [
    `${cut.length} of ${of} trees ${cut.length === 1 ? "ends" : "end"} where the cloud was cut (${named.join(", ")}${more}): what lies beyond is missing. ${effect}`,
  ];
}
