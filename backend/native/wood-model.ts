import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

const addon = addonAs<WoodModelNative>();

/** Voxels of a cloud with the features that a model asks for; they never change. */
export interface NativeVoxelCloud {
  release(): void;
}
/** Crops of a voxel cloud and the votes on it: nextCrop and voteCrop in turn, then cropLabels. */
export interface NativeCrops {
  release(): void;
}

export type FeatureKind = "dxyz" | "reflectance" | "local_geometry" | "path" | "lines";

export interface VoxelCloudInfo {
  readonly cloud: NativeVoxelCloud;
  readonly voxel_count: number;
  /** Used, metres: at least as large as asked for, over enlarged_by. */
  readonly voxel_m: number;
  /** Of a plant that is smaller than enlarge_to_m; 1 = it was not enlarged. */
  readonly enlarged_by: number;
}

/** cpp/ops/wood/voxel_hierarchy.h: lengths in metres. */
export interface VoxelEdges {
  readonly finest_m: number;
  readonly coarsest_m: number;
  readonly most_single: number;
}

/** cpp/ops/wood/voxel_hierarchy.h. */
export interface CropParams {
  readonly levels: number;
  readonly neighbors: number;
  readonly max_voxels: number;
  readonly inner_fraction: number;
  readonly class_count: number;
  readonly hops: number;
}

export interface CropLevel {
  /** Float32 (m, 3), metres from the crop's seed. */
  readonly positions: ArrayBuffer;
  /** Int64 (m, neighbors), rows of the level, itself first. */
  readonly neighbors: ArrayBuffer;
  /** Int64 (m), rows of the next level; null at the last. */
  readonly parent: ArrayBuffer | null;
}

export interface NativeCrop {
  readonly voxel_count: number;
  /** Uint32 (m), of the cloud, ascending. */
  readonly voxels: ArrayBuffer;
  /** Float32 (m, sum of the widths), columns in the order of the cloud's kinds. */
  readonly features: ArrayBuffer;
  readonly levels: readonly CropLevel[];
  /** Voxels that this and earlier crops claim, of voxel_count of the cloud. */
  readonly claimed: number;
}

/** What a voxel cloud computed. */
export interface VoxelColumns {
  /** f32 (m, width), columns in the order of the cloud's kinds, dxyz as zeros. */
  readonly features: NativeColumn;
  readonly width: number;
  /** u32 per row of the positions; 4294967295 = none. */
  readonly voxel_of: NativeColumn;
  /** vec3d (m), metres from the middle of the cloud's box. */
  readonly places: NativeColumn;
}

/** Columns of the features, classes, and neighbours of a voxel with itself. */
export interface VoxelNetworkSize {
  readonly features: number;
  readonly classes: number;
  readonly neighbors: number;
}

export interface WoodModelNative {
  voxelFeatureWidths(): Readonly<Record<FeatureKind, number>>;
  voxelCloud(
    positions: NativeColumn,
    skip: NativeColumn,
    reflectance: NativeColumn | null,
    params: VoxelEdges & {
      readonly kinds: readonly FeatureKind[];
      /** A cloud that spans less is enlarged to it (cpp/ops/qsm/plant_scale.h), metres; 0 = none is. */
      readonly enlarge_to_m: number;
    },
    options?: OpOptions,
  ): NativeJob<VoxelCloudInfo>;
  voxelCrops(cloud: NativeVoxelCloud, params: CropParams, options?: OpOptions): NativeJob<NativeCrops>;
  nextCrop(crops: NativeCrops, options?: OpOptions): NativeJob<NativeCrop | null>;
  voteCrop(crops: NativeCrops, logits: Float32Array, options?: OpOptions): NativeJob<null>;
  cropLabels(
    crops: NativeCrops,
    params: { readonly values: readonly number[]; readonly unknown: number; readonly skipped: number },
    options?: OpOptions,
  ): NativeJob<NativeColumn>;
  voxelColumns(cloud: NativeVoxelCloud, options?: OpOptions): NativeJob<VoxelColumns>;
  voxelNetworkBytes(points: number, size: VoxelNetworkSize): number;
}

/** Columns of each kind of feature. */
export const voxelFeatureWidths: WoodModelNative["voxelFeatureWidths"] = () => addon.voxelFeatureWidths();
/** Voxelizes the rows that `skip` does not mark and computes their features; reflectance f32 per row. */
export const voxelCloud: WoodModelNative["voxelCloud"] = (positions, skip, reflectance, params, options) =>
  addon.voxelCloud(positions, skip, reflectance, params, options);
/** The crops of a voxel cloud, none claimed yet. */
export const voxelCrops: WoodModelNative["voxelCrops"] = (cloud, params, options) =>
  addon.voxelCrops(cloud, params, options);
/** The next crop, null when every voxel is claimed. Errors: invalid_argument while the last one has no vote. */
export const nextCrop: WoodModelNative["nextCrop"] = (crops, options) => addon.nextCrop(crops, options);
/** Logits (m, class_count) of the last crop. Errors: invalid_argument for another length or values that are not finite. */
export const voteCrop: WoodModelNative["voteCrop"] = (crops, logits, options) => addon.voteCrop(crops, logits, options);
/** u8 per row: values[class], `unknown` where a position is not finite, `skipped` where a row was skipped. */
export const cropLabels: WoodModelNative["cropLabels"] = (crops, params, options) =>
  addon.cropLabels(crops, params, options);
/** All features of a voxel cloud, to train with. */
export const voxelColumns: WoodModelNative["voxelColumns"] = (cloud, options) => addon.voxelColumns(cloud, options);
/** Upper estimate of the memory of a voxel cloud, its features and its crops. */
export const voxelNetworkBytes: WoodModelNative["voxelNetworkBytes"] = (points, size) =>
  addon.voxelNetworkBytes(points, size);
