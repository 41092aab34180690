import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";

/** Of the height that is left above the last section, and of that over the section's diameter. Whole trees have 13 and more. */
const MOST_LEFT = 0.25;
const LEAST_SLENDER = 8;
/** From this part of the stems on, the tops of the others are in doubt, too. */
const MANY = 0.25;

/** A stem that is still thick near the highest point of its tree. */
export interface ThickTop {
  readonly tree_id: number;
  /** Diameter of the last section that is ok, and how far below the highest point it lies. */
  readonly diameter_m: number;
  readonly below_m: number;
}

/** Trees whose stem ends thick, by id. */
export function thickTops(trees: Table, curve: Table): ReadonlyMap<number, ThickTop> {
  const last = new Map<number, { height_m: number; diameter_m: number }>();
  for (let k = 0; k < curve.length; k += 1) {
    if (curve.get(k, "ok") !== 1) continue;
    const [tree, height_m] = [curve.get(k, "tree_id"), curve.get(k, "height_m")];
    if (height_m > (last.get(tree)?.height_m ?? 0))
      last.set(tree, { height_m, diameter_m: curve.get(k, "diameter_m") });
  }
  const found = new Map<number, ThickTop>();
  for (let i = 0; i < trees.length; i += 1) {
    const [tree_id, height_m] = [trees.get(i, "tree_id"), trees.get(i, "height_m")];
    const section = last.get(tree_id);
    if (!section || !(trees.get(i, "dbh_diameter_m") > 0)) continue;
    const below_m = height_m - section.height_m;
    if (below_m < MOST_LEFT * height_m && below_m < LEAST_SLENDER * section.diameter_m)
      found.set(tree_id, { tree_id, diameter_m: section.diameter_m, below_m });
  }
  return found;
}

/** Warns of heights that end where the stem does not; `stems`: number of trees with a diameter. */
export function thickTopWarnings(tops: readonly ThickTop[], stems: number): string[] {
  const [first] = tops;
  if (!first) return [];
  const named = namedTrees(tops.map(({ tree_id }) => tree_id));
  const end = tops.length === 1 ? "ends" : "end";
  const example = `tree ${first.tree_id}: ${(100 * first.diameter_m).toFixed(0)} cm thick ${first.below_m.toFixed(1)} m below its highest point`;
  const all =
    tops.length >= MANY * stems
      ? " With so many of them the heights of the other trees are probably too small, too."
      : "";
  return [
    `${tops.length} of ${stems} trees with a diameter ${end} while the stem is thick (flags: thick_top; ${named}; ${example}), as broken stems and palms do, and stems whose tops were not seen: out of range, as of a phone, which sees some 5 m, hidden, or cut off. Whole trees go on for 13 and more diameters.${all} Their heights are those of the highest points that were measured.`,
  ];
}
