import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";

/** Of cpp/ops/trees/shared_tops.h. */
const MOST_SHARED = 0.2;

/** Whether the highest point of a tree lies among those of others. */
export const hasSharedTop = (trees: Table, i: number): boolean => trees.get(i, "top_shared") > MOST_SHARED;

/** Warns of trees whose highest point may be of another, or is missing; `ids`: of these, `of`: of all measured trees. */
export function sharedTopWarnings(ids: readonly number[], of: number): string[] {
  if (ids.length === 0) return [];
  const has = ids.length === 1 ? "has its" : "have their";
  return [
    `${ids.length} of ${of} trees ${has} highest point among points of other trees (flags: shared_top; ${namedTrees(ids)}): where crowns meet, the top of one may have been given to another, so that a height is too large or too small. In generated stands with closed canopies, scanned from four places, 43 % of such heights were more than 0.3 m off, by up to 7 m, and 0.4 % of the others; scanned from one place, 61 and 14 %. Look at these trees before their heights are used.`,
  ];
}
