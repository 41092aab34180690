import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<SkeletonNative>();

export interface SkeletonParams {
  readonly remove_outliers: boolean;
  readonly outlier_nb_neighbors: number;
  readonly outlier_std_ratio: number;
  /** Metres; null or below 0.001 = automatic. */
  readonly search_radius_m: number | null;
  readonly max_neighbors: number;
  readonly root_threshold_m: number;
  readonly quantization_levels: number;
  readonly use_nonlinear_quantization: boolean;
  readonly threshold_filter: number;
  readonly use_proportion_filter: boolean;
  readonly proportion_threshold: number;
  readonly smooth_skeleton: boolean;
  readonly smoothing_iterations: number;
  readonly recenter: boolean;
}

export type SkeletonFailure =
  | "few_points"
  | "few_after_outliers"
  | "no_roots"
  | "unreached"
  | "no_blocks"
  | "few_blocks";

/** The caller releases the columns, which are empty on a failure. */
export interface NativeSkeleton {
  /** Null = a skeleton was found. */
  readonly failure: SkeletonFailure | null;
  /** Finite points before and after the outlier removal. */
  readonly points_before: number;
  readonly points_after: number;
  readonly non_finite: number;
  readonly reached: number;
  /** Points with max_neighbors others within the search radius: it does not end their links. */
  readonly crowded: number;
  readonly search_radius_m: number;
  readonly blocks_before: number;
  readonly blocks_after: number;
  readonly joined_roots: number;
  readonly total_length_m: number;
  /** f64 (blocks, 6): x, y, z of the centroid, level, points, parent or -1. */
  readonly blocks: NativeColumn;
  /** f64 (nodes, 3), metres. */
  readonly points: NativeColumn;
  /** u32 (edges, 2): parent, child. */
  readonly edges: NativeColumn;
  /** u32 (nodes). */
  readonly branch_orders: NativeColumn;
}

export interface SkeletonNative {
  levelSetSkeleton(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: SkeletonParams,
    offset: readonly [number, number, number],
  ): NativeJob<NativeSkeleton>;
  skeletonBytes(points: number, maxNeighbors: number): number;
}

/** Skeleton of the rows that `skip` does not mark; `offset` is added to its places. Errors: invalid_argument. */
export const levelSetSkeleton: SkeletonNative["levelSetSkeleton"] = (positions, skip, params, offset) =>
  addon.levelSetSkeleton(positions, skip, params, offset);
/** Upper estimate of the memory of levelSetSkeleton. */
export const skeletonBytes: SkeletonNative["skeletonBytes"] = (points, maxNeighbors) =>
  addon.skeletonBytes(points, maxNeighbors);
