import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<TreesNative>();

/** The rows of a cloud, sorted into vegetation and ground. */
export interface TreePoints {
  /** u8 per row, 0 = vegetation: a finite hit that is not ground. */
  readonly skip: NativeColumn;
  /** u8 per row, 0 = a finite hit that is ground; null without ground labels. */
  readonly not_ground: NativeColumn | null;
  readonly vegetation_count: number;
  readonly ground_count: number;
  /** Hits with a coordinate that is not finite. */
  readonly non_finite_count: number;
  /** Of the vegetation along x and y, metres. */
  readonly extent: readonly [number, number];
}

export interface CanopyCrownsParams {
  /** Edge of a cell, metres. */
  readonly cell_m: number;
  /** Lowest canopy, metres above the ground. */
  readonly min_height_m: number;
  /** Width of the smaller crowns, metres. */
  readonly crown_scale_m: number;
}

export interface TreeLabels {
  /** u32 per row: 0 = no tree, else 1 .. num_trees. */
  readonly tree_instance: NativeColumn;
  readonly num_trees: number;
}

export interface CanopyCrowns extends TreeLabels {
  /** Indices of the seeds whose trees have no points. */
  readonly empty_seeds: readonly number[];
  /** The terrain comes from ground points, else from the lowest returns. */
  readonly ground_given: boolean;
}

export interface CanopyCrownsCost {
  readonly cells: number;
  readonly bytes: number;
  readonly admissible: boolean;
  readonly finest_cell_m: number;
}

/** Functions of the addon for trees; one declaration for the facade and for tests. */
export interface TreesNative {
  treePoints(
    positions: NativeColumn,
    skip: NativeColumn | null,
    ground: NativeColumn | null,
    options?: OpOptions,
  ): NativeJob<TreePoints>;
  canopyCrowns(
    positions: NativeColumn,
    skip: NativeColumn,
    notGround: NativeColumn | null,
    seeds: NativeColumn | null,
    params: CanopyCrownsParams,
    options?: OpOptions,
  ): NativeJob<CanopyCrowns>;
  canopyCrownsCost(points: number, extent: readonly [number, number], cellM: number): CanopyCrownsCost;
  fusionWarning(
    positions: NativeColumn,
    skip: NativeColumn,
    treeInstance: NativeColumn,
    numTrees: number,
    options?: OpOptions,
  ): NativeJob<{ fused: number; implied: number }>;
}

/** Sorts the rows that `skip` does not mark into vegetation and ground (class 1). */
export const treePoints: TreesNative["treePoints"] = (positions, skip, ground, options) =>
  addon.treePoints(positions, skip, ground, options);
/** Crowns in a canopy height model of the rows that `skip` does not mark. */
export const canopyCrowns: TreesNative["canopyCrowns"] = (positions, skip, notGround, seeds, params, options) =>
  addon.canopyCrowns(positions, skip, notGround, seeds, params, options);
/** Cost of a canopy height model over an extent of x by y metres; check `admissible` before a run. */
export const canopyCrownsCost: TreesNative["canopyCrownsCost"] = (points, extent, cellM) =>
  addon.canopyCrownsCost(points, extent, cellM);
/** Number of trees with several stems, and number of trees if every stem were one. */
export const fusionWarning: TreesNative["fusionWarning"] = (positions, skip, treeInstance, numTrees, options) =>
  addon.fusionWarning(positions, skip, treeInstance, numTrees, options);
