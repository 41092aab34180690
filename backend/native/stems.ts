import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<StemsNative>();

export interface StemParams {
  /** Heights above the ground, metres. */
  readonly band_min_m: number;
  readonly band_max_m: number;
  readonly max_diameter_m: number;
}

/** A stem and the circle across it. Frame of the positions. */
export interface FoundStem {
  /** On the axis, 1.3 m above the ground. */
  readonly position: readonly [number, number, number];
  readonly axis: readonly [number, number, number];
  readonly ground_z: number;
  readonly radius_m: number;
  readonly n_inliers: number;
  /** Share of the circle with points, 0..1. */
  readonly arc_coverage: number;
  readonly rms_m: number;
  /** Seen in two columns of points alone: the circle is one of many through them. */
  readonly has_two_columns: boolean;
}

export const STEM_REJECTIONS = [
  "few_points",
  "too_wide",
  "not_upright",
  "no_circle",
  "high_residual",
  "few_inliers",
  "halves_differ",
  "merged",
] as const;
export type StemRejection = (typeof STEM_REJECTIONS)[number];

export interface FoundStems {
  /** Most inliers first. */
  readonly stems: readonly FoundStem[];
  readonly layer_points: number;
  readonly clusters: number;
  readonly rejected: Readonly<Record<StemRejection, number>>;
  /** Of `merged`, stems that touch no stronger one. */
  readonly beside: number;
  /** Of all points that are not ground; null without a height. */
  readonly lowest_height: number | null;
  readonly highest_height: number | null;
}

export interface TreesOfStems {
  /** Of each stem; 0 = none. */
  readonly trees: readonly number[];
  /** The layer, metres above the ground: 1 to 2, lower where all trees are low. */
  readonly min_m: number;
  readonly max_m: number;
}

export interface StemsNative {
  detectStems(
    positions: NativeColumn,
    skip: NativeColumn | null,
    heights: NativeColumn,
    ground: NativeColumn | null,
    params: StemParams,
    options?: OpOptions,
  ): NativeJob<FoundStems>;
  treesOfStems(
    positions: NativeColumn,
    skip: NativeColumn | null,
    heights: NativeColumn,
    ground: NativeColumn | null,
    trees: NativeColumn,
    options?: OpOptions,
  ): NativeJob<TreesOfStems>;
  stemDetectionBytes(points: number): number;
}

/**
 * Stems that cross a layer, from the rows that `skip` does not mark and `ground` does not call ground (1). `heights`: a
 * number per row, metres above the ground; NaN = unknown.
 */
export const detectStems: StemsNative["detectStems"] = (positions, skip, heights, ground, params, options) =>
  addon.detectStems(positions, skip, heights, ground, params, options);
/** The stems in the layer of the trunks by the tree that most points around each have in `trees` (any scalar type). */
export const treesOfStems: StemsNative["treesOfStems"] = (positions, skip, heights, ground, trees, options) =>
  addon.treesOfStems(positions, skip, heights, ground, trees, options);
/** Memory of detectStems in addition to its columns. */
export const stemDetectionBytes: StemsNative["stemDetectionBytes"] = (points) => addon.stemDetectionBytes(points);
