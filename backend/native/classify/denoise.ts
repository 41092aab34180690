import type { OpOptions } from "../cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<DenoiseNative>();

/** Method and parameters that tell clean points from noise. Lengths in metres; `tile_points` 0 = no tiles. */
export type NoiseParams =
  | { readonly method: "ror"; readonly radius: number; readonly nb_points: number; readonly tile_points: number }
  | {
      readonly method: "voxel_count";
      readonly voxel: number;
      readonly min_points: number;
      readonly tile_points: number;
    }
  | { readonly method: "sor"; readonly nb_neighbors: number; readonly std_ratio: number }
  | {
      readonly method: "auto";
      readonly nb_neighbors: number;
      readonly link_factor: number;
      readonly min_link: number;
      readonly max_link: number;
      readonly cluster_points: number;
      readonly gap_factor: number;
    };

/** How a cloud was divided into tiles. */
export interface TilePlan {
  readonly n: number;
  readonly tile_m: number;
  readonly buffer_m: number;
  readonly grid: readonly [number, number];
  readonly tiles: number;
  readonly points_per_tile_max: number;
  readonly points_per_tile_mean: number;
}

export interface NoiseLabels {
  /** u8: 1 clean, 2 noise. Per hit; with `scatter` per row, misses 1, deleted rows 0. */
  readonly noise_class: NativeColumn;
  /** Number of hits. */
  readonly analyzed_count: number;
  readonly flagged_count: number;
  /** Hits among the flagged with a coordinate that is not finite. */
  readonly non_finite_count: number;
  /** Why the GPU was not used although it was requested. */
  readonly warnings: readonly string[];
  readonly plan: TilePlan | null;
}

export interface DenoiseNative {
  labelNoise(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: NoiseParams,
    scatter: boolean,
    options?: OpOptions,
  ): NativeJob<NoiseLabels>;
}

/** Labels the rows that `skip` (of hitMask) does not mark as clean or noise. Errors: invalid_argument. */
export const labelNoise: DenoiseNative["labelNoise"] = (positions, skip, params, scatter, options) =>
  addon.labelNoise(positions, skip, params, scatter, options);
