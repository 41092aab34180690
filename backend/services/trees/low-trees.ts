import type { TallTree } from "./missing-diameters.ts";

/** Lower than this, metres: no tree of a canopy. */
const LOW_M = 2;
/** As high or higher, metres: trees, beside which low ones may be pieces of them. */
const TREE_M = 4;
const TOLD_PART = 0.1;

/** Warns of many low trees without a diameter beside trees that have one or are high: not all of them are trees. */
export function lowTreeWarnings(trees: readonly TallTree[]): string[] {
  const isMeasured = ({ dbh_m }: TallTree) => Number.isFinite(dbh_m);
  const low = trees.filter((tree) => tree.height_m < LOW_M && !isMeasured(tree)).length;
  const isTree = (tree: TallTree) => isMeasured(tree) || tree.height_m >= TREE_M;
  if (!(low >= TOLD_PART * trees.length) || !trees.some(isTree)) return [];
  return [
    `${low} of ${trees.length} trees are lower than ${LOW_M} m and have no diameter, as saplings, shrubs, stumps, brash, stems that lie on the ground and tips of branches and fronds that hang to it: they count as trees, and their crowns in the cover. Stems and basal area are without them.`,
  ];
}
