import { leafyStems, type StemCover, THICK_M } from "./covered-stems.ts";

/** Scatter that bark does not have (kMostScatter of the addon), metres. */
const MOST_SCATTER_M = 0.012;
/** Of fewer stems it may be leaves around one of them. */
const FEWEST_STEMS = 3;

/** Warns of points that lie far from the circles of most stems, but for those that leaves cover: circles are then those of a part of the points. */
export function scatterWarnings(stems: readonly StemCover[]): string[] {
  const leafy = new Set(leafyStems(stems));
  const known = stems
    .filter((stem) => Number.isFinite(stem.scatter_m) && !(stem.dbh_m > THICK_M) && !leafy.has(stem))
    .map(({ scatter_m }) => scatter_m)
    .sort((a, b) => a - b);
  const median = known[Math.floor(known.length / 2)] ?? 0;
  if (known.length < FEWEST_STEMS || !(median > MOST_SCATTER_M)) return [];
  return [
    `The points of stems scatter ${(1000 * median).toFixed(0)} mm about their circles (median of ${known.length} stems), more than bark does: the ranges are noisy, scans do not fit each other, or leaves, as of ivy, cover the stems. Diameters are uncertain by about as much, which is part of their sigma_m; several centimetres of noise make them too large, and leaves up to twice as large.`,
  ];
}
