import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<FlatTreesNative>();

export interface FlatTreesNative {
  flatTrees(
    positions: NativeColumn,
    skip: NativeColumn | null,
    trees: NativeColumn,
    options?: OpOptions,
  ): NativeJob<{ readonly flat: readonly number[]; readonly wires: readonly number[] }>;
  flatTreesBytes(rows: number): number;
}

/**
 * Ids, ascending, of trees that lie on flat surfaces, as walls do, and that are wires (cpp/ops/trees/flat_trees.h): of the rows that `skip` does not
 * mark. `trees`: the id of the tree of each row, 0 = none.
 */
export const flatTrees: FlatTreesNative["flatTrees"] = (positions, skip, trees, options) =>
  addon.flatTrees(positions, skip, trees, options);
/** Memory of flatTrees in addition to its columns, bytes. */
export const flatTreesBytes: FlatTreesNative["flatTreesBytes"] = (rows) => addon.flatTreesBytes(rows);
