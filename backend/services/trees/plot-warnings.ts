import type { TreeInventory } from "../../native/inventory.ts";

/** Below this share of a plot that was seen, values per area are visibly too small. */
const LEAST_SEEN = 0.8;
/** From this share of a plot that no beam reached near the ground: two scans of the reference plots left up to 12 %. */
const MUCH_UNSEEN = 0.15;
/** Smaller plots hold too few trees for values per hectare, m2. */
const SMALL_PLOT_M2 = 100;
const REMEDY = "enter the plot area to get values per hectare";

/** What a person must know about a plot before using values per area. */
export function plotWarnings(
  {
    plot_source,
    plot_area_m2,
    plot_seen_share: seen,
    trees_on_ground_share: on_ground,
    unseen_share: unseen,
  }: NonNullable<TreeInventory["stand"]>,
  has_diameters: boolean,
  lacks_ground: boolean,
): string[] {
  const warnings: string[] = [];
  if (on_ground !== null)
    warnings.push(
      `The ground that was seen lies under ${percent(on_ground)} of the trees or of their crown area: its outline is not the plot.`,
    );
  if (plot_source === "none") {
    const reason =
      seen === null ? "The points lie on one line" : `Points cover only ${percent(seen)} of the area that they enclose`;
    warnings.push(`${reason}: the plot is unknown, and with it cover and corrected competition; ${REMEDY}.`);
  } else if (plot_source === "all_points" && on_ground !== null) {
    warnings.push(
      `The plot is the hull of all points, ${shortArea(plot_area_m2 ?? 0)} m²: crowns at its edge enlarge it.`,
    );
  }
  if (plot_source !== "none" && seen !== null && seen < LEAST_SEEN)
    warnings.push(
      `Points cover ${percent(seen)} of the plot, which is a convex hull: values per area are too small; enter the plot area.`,
    );
  if (has_diameters && !lacks_ground && unseen !== null && unseen >= MUCH_UNSEEN)
    warnings.push(
      `No point lies lower than 2 m above the ground on ${percent(unseen)} of the plot (unseen_share): no beam reached the ground there, as behind the stems of a plot scanned from one place. Stems that stand there are missing or without a diameter: stems and basal area per hectare are too small by up to about as much (known plots scanned from one place: 0 to 29 % with 16 to 41 % unseen). Scan from more places.`,
    );
  if (plot_source !== "none" && plot_area_m2 !== null && plot_area_m2 < SMALL_PLOT_M2)
    warnings.push(
      `The plot has only ${shortArea(plot_area_m2)} m²: values per hectare rest on a few trees and say little about a stand.`,
    );
  return warnings;
}

const shortArea = (area: number) => (area < 10 ? String(Number(area.toPrecision(2))) : String(Math.round(area)));

const percent = (share: number) => `${Math.round(100 * share)} %`;
