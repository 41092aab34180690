import type { TallTree } from "./missing-diameters.ts";

/** Thinner stems may be culms of bamboo, or saplings, which are as slender. */
const LEAST_DBH_M = 0.15;
const FEWEST = 5;
/** Height over diameter: in real and generated plots medians of 45 to 83, and up to 149 of one tree. */
const SLENDER = 150;

/** Warns of stems that are higher for their diameters than stems are, as where z is in feet and x and y are in metres. */
export function slenderWarnings(trees: readonly TallTree[]): string[] {
  const ratios = trees
    .flatMap(({ height_m, dbh_m }) => (dbh_m >= LEAST_DBH_M ? height_m / dbh_m : []))
    .sort((a, b) => a - b);
  const median = ratios[Math.floor(ratios.length / 2)];
  if (ratios.length < FEWEST || median === undefined || !(median > SLENDER)) return [];
  return [
    `Trees with a diameter of ${LEAST_DBH_M} m and more are ${Math.round(median)} times as high as thick (median of ${ratios.length}; of trees in forests mostly 40 to 100): z may be in another unit than x and y, as feet beside metres, which makes heights 3.3 times too large, or diameters are those of parts of stems. Convert the file to one unit first.`,
  ];
}
