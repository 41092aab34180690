import type { TallTree } from "./missing-diameters.ts";

/** Lower than this, metres, or than this part of the median tree: no tree of a canopy. */
const LOW_M = 2;
const LOW_PART = 0.2;
/** As high or higher, metres: trees, beside which low ones may be pieces of them. */
const TREE_M = 4;
const TOLD_PART = 0.1;

const isMeasured = ({ dbh_m }: TallTree) => Number.isFinite(dbh_m);

/** Below this height a tree without a diameter is taken for none, metres: 0 where nothing tells how high the trees are. */
export function lowTreeLimit(trees: readonly TallTree[]): number {
  const isTree = (tree: TallTree) => isMeasured(tree) || tree.height_m >= TREE_M;
  const heights = trees.flatMap((tree) => (isTree(tree) ? tree.height_m : [])).sort((a, b) => a - b);
  const median = heights[Math.floor(heights.length / 2)];
  return median === undefined ? 0 : Math.max(LOW_M, LOW_PART * median);
}

/** Warns of many low trees without a diameter beside trees that have one or are high: not all of them are trees. */
export function lowTreeWarnings(trees: readonly TallTree[]): string[] {
  const limit = lowTreeLimit(trees);
  const low = trees.filter((tree) => tree.height_m < limit && !isMeasured(tree)).length;
  if (!(low >= TOLD_PART * trees.length) || limit === 0) return [];
  return [
    `${low} of ${trees.length} trees are lower than ${Number(limit.toFixed(1))} m and have no diameter, as saplings, shrubs, stumps, brash, stems that lie on the ground and tips of branches and fronds that hang to it: they count as trees, and their crowns in the cover. Stems and basal area are without them.`,
  ];
}
