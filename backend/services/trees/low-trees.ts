import type { TallTree } from "./missing-diameters.ts";

/** Lower than this, metres: no tree of a canopy. */
const LOW_M = 2;
const TOLD_PART = 0.1;

/** Warns of many low trees without a diameter beside trees that have one: not all of them are trees. */
export function lowTreeWarnings(trees: readonly TallTree[]): string[] {
  const isMeasured = ({ dbh_m }: TallTree) => Number.isFinite(dbh_m);
  const low = trees.filter((tree) => tree.height_m < LOW_M && !isMeasured(tree)).length;
  if (!(low >= TOLD_PART * trees.length) || !trees.some(isMeasured)) return [];
  return [
    `${low} of ${trees.length} trees are lower than ${LOW_M} m and have no diameter, as saplings, shrubs, stumps, brash and stems that lie on the ground: they count as trees, and their crowns in the cover. Stems and basal area are without them.`,
  ];
}
