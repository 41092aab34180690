import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";

/** From this on it is told, metres, or this part of the height where that is less. */
const TOLD_M = 0.3;
const TOLD_PART = 0.03;

/** A tree whose highest points stand alone: cpp/ops/trees/stray_top.h. */
export interface StrayTop {
  readonly tree_id: number;
  /** How much lower the highest point is that does not. */
  readonly lower_m: number;
}

/** How much lower the tree would be without points that stand alone, metres, if that is to be told; 0 otherwise. */
export function strayTop(trees: Table, i: number): number {
  const lower_m = trees.get(i, "stray_top_m");
  return lower_m > Math.min(TOLD_M, TOLD_PART * trees.get(i, "height_m")) ? lower_m : 0;
}

/** Warns of heights that are those of rain, insects and noise; `of`: number of all measured trees. */
export function strayTopWarnings(tops: readonly StrayTop[], of: number): string[] {
  if (tops.length === 0) return [];
  const most = tops.reduce((worst, { lower_m }) => Math.max(worst, lower_m), 0);
  const has = tops.length === 1 ? "has a highest point that stands" : "have highest points that stand";
  return [
    `${tops.length} of ${of} trees ${has} alone (flags: stray_top; ${namedTrees(tops.map(({ tree_id }) => tree_id))}), as rain, snow, fog, dust, insects, birds and noise of the scanner do: heights may be up to ${most.toFixed(2)} m too large (stray_top_m), and crowns too wide. Label noise first (denoise), then ground, trees and this list again.`,
  ];
}
