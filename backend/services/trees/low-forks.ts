import { lowTreeLimit } from "./low-trees.ts";
import type { TallTree } from "./missing-diameters.ts";

/** Trees below this height are low, metres: kLowTree of cpp/ops/trees/trunk_layer.h. */
const LOW_M = 20 / 3;
/** Trunks of low trees are measured up to this part of their height: cpp/ops/trees/low_trunk.cpp. */
const TRUNK_PART = 0.2;
const MIDDLE_PART = 0.1;
/** Share of the trees, and of the low ones, from which it is told. */
const TOLD_SHARE = 0.5;

/** Tells of low trees, as of orchards, whose stems part below breast height: where their trunks can be measured. */
export function lowForkWarnings(all: readonly TallTree[], breast_height_m: number): string[] {
  const least = lowTreeLimit(all);
  const trees = all.filter(({ height_m, dbh_m }) => height_m >= least || Number.isFinite(dbh_m));
  const low = trees.filter(({ height_m }) => height_m < LOW_M && height_m > breast_height_m);
  const missing = low.filter(({ dbh_m }) => !Number.isFinite(dbh_m));
  if (low.length < TOLD_SHARE * trees.length || missing.length < TOLD_SHARE * low.length) return [];
  const heights = low.map(({ height_m }) => height_m).sort((a, b) => a - b);
  const median = heights[Math.floor(heights.length / 2)];
  if (median === undefined || breast_height_m <= TRUNK_PART * median) return [];
  return [
    `${missing.length} of ${low.length} trees lower than ${LOW_M.toFixed(1)} m have no diameter at ${breast_height_m} m. If they part into limbs below it, as trees of orchards do, breast_height_m measures their trunks: ${(MIDDLE_PART * median).toFixed(1)} for trees as high as these.`,
  ];
}
