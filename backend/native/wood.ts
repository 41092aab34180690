import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<WoodNative>();

export interface WoodLeafParams {
  readonly method: "geometric" | "connectivity" | "sota";
  readonly wood_bias: number;
  readonly k_min: number;
  readonly k_max: number;
  readonly k_step: number;
  readonly reg_k: number;
  readonly reg_iters: number;
  readonly min_speckle: number;
  readonly branch_grow_sph: number;
  /** 0 = auto. */
  readonly backbone_support: number;
  /** Metres; 0 = auto. */
  readonly voxel_size_m: number;
  /** Above which auto takes voxels. */
  readonly most_points: number;
  readonly reflectance_weight_max: number;
}

export interface FoundWood {
  /** u8 per row: 1 = wood, 2 = leaf, 0 = skipped. */
  readonly wood_class: NativeColumn;
  readonly num_wood: number;
  readonly num_leaf: number;
  /** Points or voxels that were told apart. */
  readonly used: number;
  readonly non_finite: number;
  /** Leaf that its reflectance made wood. */
  readonly promoted: number;
  /** Segments of the skeleton, and those that are cylinders; 0 = none were needed. */
  readonly segments: number;
  readonly cylinders: number;
  /** Edge of the voxels, metres; 0 = none. */
  readonly voxel_m: number;
  /** 0 = unused. */
  readonly reflectance_weight: number;
  readonly separated: boolean;
  readonly warnings: readonly string[];
}

/** Scatter of wood points beside its surface (cpp/ops/wood/wood_scatter.h). */
export interface WoodScatter {
  /** Pieces of surface that were found. */
  readonly places: number;
  /** Metres; null with too few of them. */
  readonly scatter_m: number | null;
}

/** Functions of the addon for wood and leaves; one declaration for the facade and for tests. */
export interface WoodNative {
  woodLeaf(
    positions: NativeColumn,
    skip: NativeColumn | null,
    reflectance: NativeColumn | null,
    params: WoodLeafParams,
    options?: OpOptions,
  ): NativeJob<FoundWood>;
  woodScatter(positions: NativeColumn, woodClass: NativeColumn): NativeJob<WoodScatter>;
  woodLeafCost(points: number, params: WoodLeafParams): { readonly bytes: number; readonly seconds: number };
}

/** Tells wood from leaves among the rows that `skip` does not mark. `reflectance`: any scalar type, or null. */
export const woodLeaf: WoodNative["woodLeaf"] = (positions, skip, reflectance, params, options) =>
  addon.woodLeaf(positions, skip, reflectance, params, options);
/** How far the rows with wood_class 1 lie beside the surfaces of stems and thick branches. */
export const woodScatter: WoodNative["woodScatter"] = (positions, woodClass) => addon.woodScatter(positions, woodClass);
/** Memory and CPU seconds of woodLeaf. */
export const woodLeafCost: WoodNative["woodLeafCost"] = (points, params) => addon.woodLeafCost(points, params);
