import type { TilePlan } from "./classify/denoise.ts";
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
  /** Typical distance of hits seen from above, ground or not, metres; 0 = unknown. */
  readonly spacing_m: number;
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
  /** Number of points in crowns. */
  readonly crown_points: number;
  /** The terrain comes from ground points, else from the lowest returns. */
  readonly ground_given: boolean;
  /** Of the outlines of all crowns seen from above, the part along other crowns. */
  readonly touching: number;
  /** Trees whose top rises less than a twentieth of its height above the saddle to a higher crown. */
  readonly shallow: number;
}

export interface CanopyCrownsCost {
  readonly cells: number;
  readonly bytes: number;
  readonly admissible: boolean;
  readonly finest_cell_m: number;
}

export interface CutPursuitParams {
  readonly reg_strength1: number;
  readonly min_nn1: number;
  readonly decimate_res1: number;
  readonly reg_strength2: number;
  readonly min_nn2: number;
  readonly decimate_res2: number;
  readonly max_gap: number;
  readonly rel_height_length_ratio: number;
  readonly vertical_weight: number;
  readonly min_nn3: number;
  readonly score_candidate_thresh: number;
  readonly init_stem_rel_length_thresh: number;
  readonly max_outlier_gap: number;
}

/** Voxels of the two stages, metres, and the nodes of the first. */
export interface TreeVoxels {
  readonly decimate_res1: number;
  readonly decimate_res2: number;
  readonly nodes: number;
}

export interface TreeDecimation {
  /** Null if it was not measured. */
  readonly spacing_m: number | null;
  /** For tiles, and for the whole cloud at once. */
  readonly tile: TreeVoxels;
  readonly whole: TreeVoxels;
}

/** How to divide a cloud. */
export interface TileWish {
  /** Graph nodes of the whole cloud, and of a tile with its buffer. */
  readonly nodes: number;
  readonly tile_nodes: number;
  readonly buffer_m: number;
}

/** Trees of the whole cloud or of tiles. */
export interface FoundTrees extends TreeLabels {
  readonly empty_seeds: readonly number[];
  /** Null if not tiled. */
  readonly tiled: (TilePlan & { readonly tiles_run: number; readonly trees_truncated: number }) | null;
  readonly stage1_collapsed: boolean;
  /** Voxels used; null if tiled. */
  readonly decimate_res1: number | null;
  readonly decimate_res2: number | null;
  /** Of pathTrees: edge of its voxels, metres, and their number. */
  readonly node_m: number | null;
  readonly nodes: number | null;
  /** Of pathTrees: heights above the ground between which stems were looked for. */
  readonly trunks: { readonly min_m: number; readonly max_m: number } | null;
  /** Of pathTrees: points more than 2 m above the ground. */
  readonly high: { readonly count: number; readonly of_stems: number; readonly without_tree: number } | null;
  /** Of pathTrees: low plants that cover the ground without a gap and are no trees. */
  readonly carpet: { readonly area_m2: number; readonly point_count: number } | null;
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
  treeDecimation(
    positions: NativeColumn,
    skip: NativeColumn,
    decimateRes1: number,
    decimateRes2: number,
    options?: OpOptions,
  ): NativeJob<TreeDecimation>;
  cutPursuitTrees(
    positions: NativeColumn,
    skip: NativeColumn,
    seeds: NativeColumn | null,
    params: CutPursuitParams,
    tiling: TileWish | null,
    options?: OpOptions,
  ): NativeJob<FoundTrees>;
  cutPursuitTreesBytes(points: number, nodes: number, params: CutPursuitParams): number;
  pathTrees(
    positions: NativeColumn,
    skip: NativeColumn,
    heights: NativeColumn,
    seeds: NativeColumn | null,
    tiling: TileWish | null,
    options?: OpOptions,
    /** Of the constants of the method by their names (cpp/ops/trees/path_constants.h), to measure their influence. */
    factors?: Readonly<Record<string, number>>,
  ): NativeJob<FoundTrees>;
  pathTreesBytes(points: number): number;
  fusionWarning(
    positions: NativeColumn,
    skip: NativeColumn,
    treeInstance: NativeColumn,
    numTrees: number,
    /** f32, above the ground; null = the ground is level. */
    heights: NativeColumn | null,
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
export const fusionWarning: TreesNative["fusionWarning"] = (
  positions,
  skip,
  treeInstance,
  numTrees,
  heights,
  options,
) => addon.fusionWarning(positions, skip, treeInstance, numTrees, heights, options);
/** Voxels for the rows that `skip` does not mark, raised from the published ones as their spacing demands. */
export const treeDecimation: TreesNative["treeDecimation"] = (positions, skip, decimateRes1, decimateRes2, options) =>
  addon.treeDecimation(positions, skip, decimateRes1, decimateRes2, options);
/** Cut-pursuit segmentation of the rows that `skip` does not mark. */
export const cutPursuitTrees: TreesNative["cutPursuitTrees"] = (positions, skip, seeds, params, tiling, options) =>
  addon.cutPursuitTrees(positions, skip, seeds, params, tiling, options);
/** Upper estimate of the memory of cutPursuitTrees without tiles. */
export const cutPursuitTreesBytes: TreesNative["cutPursuitTreesBytes"] = (points, nodes, params) =>
  addon.cutPursuitTreesBytes(points, nodes, params);
/** Trees by cheapest paths of the rows that `skip` does not mark; heights above ground, f32 per row. */
export const pathTrees: TreesNative["pathTrees"] = (positions, skip, heights, seeds, tiling, options, factors) =>
  addon.pathTrees(positions, skip, heights, seeds, tiling, options, factors);
/** Upper estimate of the memory of pathTrees without tiles. */
export const pathTreesBytes: TreesNative["pathTreesBytes"] = (points) => addon.pathTreesBytes(points);
