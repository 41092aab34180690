import { median } from "./median.ts";
import type { TallTree } from "./missing-diameters.ts";
import { namedTrees } from "./named-trees.ts";

/** A tree of the list with its number. */
export interface ListedHeight extends TallTree {
  readonly tree_id: number;
}

/** Trees with a diameter from which a curve is drawn through them. */
const FEWEST = 20;
/** Height over that of the curve: trees of generated mixed stands, with right heights, lie outside in 1 to 4 %. */
const LOWEST = 0.7;
const HIGHEST = 1.4;
/** Difference of log diameters that tells a slope. */
const LEAST_APART = 0.1;

/**
 * Height of each tree over that of others of its diameter, from a power of the diameter through the heights. Its exponent is the
 * median of the slopes, in logarithms, of pairs half of the trees apart when sorted by diameter (Theil's incomplete method, 1950): up
 * to a quarter of the heights may be wrong. Null where diameters do not differ.
 */
export function heightRatios(trees: readonly ListedHeight[]): number[] | null {
  const places = trees.map(({ height_m, dbh_m }) => [Math.log(dbh_m), Math.log(height_m)] as const);
  const sorted = places.toSorted(([a], [b]) => a - b);
  const half = Math.floor(sorted.length / 2);
  const slopes = sorted.slice(0, half).flatMap(([d, h], i) => {
    const [other_d, other_h] = sorted[i + half] ?? [d, h];
    return other_d - d > LEAST_APART ? [(other_h - h) / (other_d - d)] : [];
  });
  if (slopes.length === 0) return null;
  const slope = median(slopes);
  const offset = median(places.map(([d, h]) => h - slope * d));
  return places.map(([d, h]) => Math.exp(h - offset - slope * d));
}

/** Warns of trees that are far lower or higher than others of their diameter. */
export function oddHeightWarnings(all: readonly ListedHeight[]): string[] {
  const trees = all.filter(({ dbh_m, height_m }) => dbh_m > 0 && height_m > 0);
  const ratios = trees.length < FEWEST ? null : heightRatios(trees);
  if (!ratios) return [];
  const odd = trees.flatMap(({ tree_id }, i) => {
    const ratio = ratios[i] ?? 1;
    return ratio < LOWEST || ratio > HIGHEST ? [`${tree_id}: ${ratio.toFixed(1)}`] : [];
  });
  if (odd.length === 0) return [];
  return [
    `${odd.length} of ${trees.length} trees with a diameter ${odd.length === 1 ? "is" : "are"} less than ${LOWEST} or more than ${HIGHEST} times as high as others of that diameter (${namedTrees(odd)}): broken, of another species, or their tops were hidden or belong to a neighbour. Of such heights in generated stands nine of ten were wrong where one place had been scanned from (by up to 15 m), one of five where four had. Look at these trees before their heights are used.`,
  ];
}
