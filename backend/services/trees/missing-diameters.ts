/** A tree, or a part of one. */
export interface TallTree {
  readonly height_m: number;
  /** Metres; NaN = none. */
  readonly dbh_m: number;
}

/** Trees from this part of the median height of those with a diameter on are expected to have one. */
const TALL = 0.5;
/** Share of the squared heights from which it is told: in well scanned plots 0 to 2 % have no diameter. */
const TOLD_SHARE = 0.05;

/**
 * Warns of trees as tall as those with a diameter that have none: sums over the plot lack them. Their part of the basal area is
 * about that of their squared heights, as stems of a stand are about as thick as they are tall.
 */
export function missingDiameterWarnings(trees: readonly TallTree[]): string[] {
  const measured = trees.filter(({ dbh_m }) => Number.isFinite(dbh_m));
  const heights = measured.map(({ height_m }) => height_m).sort((a, b) => a - b);
  const median = heights[Math.floor(heights.length / 2)];
  if (median === undefined) return [];
  const tall = trees.filter(({ height_m }) => height_m >= TALL * median);
  const missing = tall.filter(({ dbh_m }) => !Number.isFinite(dbh_m));
  const share = squares(missing) / squares(tall);
  if (!(share >= TOLD_SHARE)) return [];
  const have = missing.length === 1 ? "has" : "have";
  return [
    `${missing.length} of ${tall.length} trees that are at least half as high as the median of those with a diameter ${have} none, as where their stems are hidden or too few points show them: values per hectare that need a diameter do not count them. If they are whole trees, and as thick for their height as the others, basal area is too small by about ${Math.round(100 * share)} %.`,
  ];
}

const squares = (trees: readonly TallTree[]) => trees.reduce((sum, { height_m }) => sum + height_m ** 2, 0);
