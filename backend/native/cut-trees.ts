import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<CutTreesNative>();

/** A tree that ends where the cloud was cut. */
export interface CutTree {
  readonly tree_id: number;
  /** Length of the cut along which it ends, seen from above, metres. */
  readonly width_m: number;
  /** It ends at a level cut above. */
  readonly top: boolean;
}

export interface CutTreesNative {
  cutTrees(
    positions: NativeColumn,
    skip: NativeColumn | null,
    trees: NativeColumn | null,
    options?: OpOptions,
  ): NativeJob<readonly CutTree[]>;
  cutTreesBytes(rows: number): number;
}

/**
 * The trees that the border of the cloud cuts, ascending: of the rows that `skip` does not mark. `trees`: the id of the tree of
 * each row, 0 = none; null = all rows are tree 1.
 */
export const cutTrees: CutTreesNative["cutTrees"] = (positions, skip, trees, options) =>
  addon.cutTrees(positions, skip, trees, options);
/** Memory of cutTrees in addition to its columns, bytes. */
export const cutTreesBytes: CutTreesNative["cutTreesBytes"] = (rows) => addon.cutTreesBytes(rows);
