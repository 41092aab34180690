// Sizes of trees from their diameter and their competition, as forest growth models publish them.
import type { Species } from "./species.ts";

const FOOT = 0.3048;
const INCH_CM = 2.54;
/** Square feet per acre of one square metre per hectare. */
const BASAL_AREA = 4.356;
/** Our site: heights of the published curves times this. */
const SITE = 0.88;
const TALLEST_M = 29.5;
export const BREAST_HEIGHT_M = 1.3;
/** Taper holds above the stump; shorter trees than this are cones. */
const STUMP_M = 0.15;
const SHORTEST_TAPERED_M = 3;

/**
 * Height of a tree of a diameter, metres. Source: ORGANON, 4.5 ft + exp(b0 + b1 D^b2) in feet and inches: conifers as western
 * redcedar (Hann & Hanus 2002), broadleaves as bigleaf maple (Wang & Hann 1988).
 */
export function heightOf({ is_conifer }: Species, dbh_cm: number): number {
  const [b0, b1, b2] = is_conifer ? [6.14817441, -5.40092761, -0.38922036] : [5.21462, -2.70252, -0.354756];
  return Math.min(TALLEST_M, SITE * FOOT * (4.5 + Math.exp(b0 + b1 * (dbh_cm / INCH_CM) ** b2)));
}

/** Width of the crown of an open-grown tree, metres. Source: see Species. */
export const openCrownWidth = ({ crown_width: [a1, a2] }: Species, dbh_cm: number): number => a1 * dbh_cm ** a2;
/** Width of the crown of a tree in a stand, metres. */
export const standCrownWidth = (species: Species, dbh_cm: number): number =>
  openCrownWidth(species, dbh_cm) / (species.crown_width[2] * dbh_cm ** species.crown_width[3]);

/** What surrounds a tree. */
export interface Competition {
  /** Square metres per hectare. */
  readonly basal_area: number;
  /** Crown areas that larger trees would have in the open, percent of the stand's area. */
  readonly crowns_of_larger: number;
}

/**
 * Height to the base of the crown, metres. Source: ORGANON, H / (1 + exp(..)) in feet and inches: conifers as Douglas-fir (Hann &
 * Hanus, For. Sci. 50, 2004), broadleaves as bigleaf maple (Hanus, Hann & Marshall, FRL Research Contribution 29, 2000).
 */
export function crownBaseOf({ is_conifer }: Species, dbh_cm: number, height_m: number, around: Competition): number {
  const height = height_m / FOOT;
  const sum = is_conifer
    ? 6.18464679 -
      0.00328764 * height -
      0.00136555 * around.crowns_of_larger -
      1.1970222 * Math.log(BASAL_AREA * around.basal_area) +
      (3.17028263 * (dbh_cm / INCH_CM)) / height
    : 0.9411395642 - 0.00768402 * height - 0.005476131 * around.crowns_of_larger;
  return height_m / (1 + Math.exp(sum));
}

/** Where the crown is widest above its base, as a share of its length: Hann 1999, Douglas-fir; Hann & Hanus 2001, hemlock. */
export const widestAt = ({ is_conifer }: Species): number => (is_conifer ? 0.062 : 0.209806);

/**
 * Width of the crown over its largest one at relative depth (H - h) / (H - height of the largest width), 0..1. Source: Hann,
 * For. Sci. 45, 1999 (Douglas-fir, with the ratio of height to diameter in feet per inch); Hann & Hanus, FRL Research
 * Contribution 34, 2001 (bigleaf maple).
 */
export function crownProfile({ is_conifer }: Species, depth: number, dbh_cm: number, height_m: number): number {
  if (!is_conifer) return Math.sqrt(depth);
  const slenderness = Math.min(50, height_m / FOOT / Math.max(0.5, dbh_cm / INCH_CM));
  return depth ** Math.max(0.35, 0.929973 - 0.135212 * Math.sqrt(depth) - 0.0157579 * slenderness);
}

/** Radius of the stem, metres, at `along` metres of its length. */
export type StemRadius = (along: number) => number;

/**
 * Source: Kozak, For. Chron. 80(4), 2004, model 02, scaled to the diameter at breast height. Below the stump the stem is a
 * cylinder; trees below 3 m are cones whose diameter at the base is given.
 */
export function stemRadius({ taper }: Species, diameter_m: number, height_m: number): StemRadius {
  if (height_m < SHORTEST_TAPERED_M)
    return (along) => Math.max(0.001, (diameter_m / 2) * (1 - Math.max(0, along) / height_m));
  const [, , , b1, b2, b3, b4, b5, b6] = taper;
  const dbh = 100 * diameter_m;
  const breast = 1 - Math.cbrt(BREAST_HEIGHT_M / height_m);
  return (along) => {
    const q = Math.min(1, Math.max(STUMP_M, along) / height_m);
    const rest = 1 - Math.cbrt(q);
    const x = rest / breast;
    const power =
      b1 * q ** 4 + b2 * Math.exp(-dbh / height_m) + b3 * x ** 0.1 + b4 / dbh + b5 * height_m ** rest + b6 * x;
    return Math.max(0.001, (diameter_m / 2) * x ** Math.max(0.2, power));
  };
}
