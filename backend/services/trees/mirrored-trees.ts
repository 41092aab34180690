import { namedTrees } from "./named-trees.ts";

/** A tree that glass shows of another one: cpp/ops/trees/mirrored_trees.h. */
export interface TreeImage {
  readonly tree_id: number;
  readonly of: number;
}

/** Warns of trees that stand behind glass only in the scan. */
export function mirroredTreeWarnings(found: readonly TreeImage[]): string[] {
  if (found.length === 0) return [];
  const one = found.length === 1;
  const named = namedTrees(found.map(({ tree_id, of }) => `${tree_id} of ${of}`));
  return [
    `${found.length} ${one ? "tree is the mirror image of another" : "trees are mirror images of others"}, which glass in a wall shows (flags: mirror_image; ${named}): the beams were turned back there, and what they met was measured behind the wall. ${one ? "It has" : "They have"} no diameter and ${one ? "is" : "are"} in no value of the stand; the ground behind the glass is an image, too, and counts in the plot: enter the plot area to get values per hectare. Delete such points and segment the trees again.`,
  ];
}
