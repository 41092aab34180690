import { median } from "./median.ts";
import { namedTrees } from "./named-trees.ts";
import type { Table } from "./native-table.ts";

/** A tree that stands a second time in the cloud: cpp/ops/trees/repeated_trees.h. */
export interface RepeatedTree {
  readonly tree_id: number;
  readonly of: number;
  /** From the other one to it, metres along x and y. */
  readonly by_m: readonly [number, number];
}

/** `column`: part_of for trees that were measured with another one, as its parts (cpp/ops/trees/divided_stems.h). */
export function repeatedTrees(trees: Table, column: "repeat_of" | "part_of" = "repeat_of"): RepeatedTree[] {
  const rows = Array.from({ length: trees.length }, (_, i) => i);
  const rowOf = new Map(rows.map((i) => [trees.get(i, "tree_id"), i]));
  return rows.flatMap((i) => {
    const of = trees.get(i, column);
    const other = rowOf.get(of);
    if (other === undefined) return [];
    const along = (axis: "x" | "y") => trees.get(i, `stem_base_${axis}`) - trees.get(other, `stem_base_${axis}`);
    return [{ tree_id: trees.get(i, "tree_id"), of, by_m: [along("x"), along("y")] as const }];
  });
}

const signed = (metres: number) => `${metres < 0 ? "-" : "+"}${Math.abs(metres).toFixed(2)}`;

/** "x +0.60 m, y -0.25 m": medians. */
export function medianMotion(found: readonly { readonly by_m: readonly [number, number] }[]): string {
  const [x, y] = [median(found.map(({ by_m }) => by_m[0])), median(found.map(({ by_m }) => by_m[1]))];
  return `x ${signed(x)} m, y ${signed(y)} m`;
}

/** Warns of trees that a cloud shows twice. */
export function repeatedTreeWarnings(found: readonly RepeatedTree[]): string[] {
  if (found.length === 0) return [];
  const named = namedTrees(found.map(({ tree_id, of }) => `${tree_id} of ${of}`));
  return [
    `${found.length} trees stand here a second time, all as far from their first place (${medianMotion(found)} in the median; flags: repeated; ${named}): the cloud shows them twice, as scans do that were put together and do not fit each other. They have no diameter and are in no value of the stand; heights and crowns of both are parts of those of one tree, and the terrain and models of this cloud are wrong, too. Move the scans onto each other (POST align_scans of a session with scan numbers, or POST c2c/icp-register of single scans), then segment and measure again.`,
  ];
}
