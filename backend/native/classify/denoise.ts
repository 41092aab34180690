import type { OpOptions } from "../cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<DenoiseNative>();

/** What a point must have around it to be clean. Lengths in metres; `tile_points` 0 = no tiles. */
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
      readonly max_link: number;
      readonly cluster_points: number;
    };

/** How a cloud was cut. */
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
  /** Hits. */
  readonly analyzed_count: number;
  readonly flagged_count: number;
  /** Of those, hits with a coordinate that is no finite number. */
  readonly non_finite_count: number;
  /** Why the GPU was not used though it was asked for. */
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

/** Labels the rows that `skip` (of hitMask) leaves as clean or noise. Errors: invalid_argument. */
export const labelNoise: DenoiseNative["labelNoise"] = (positions, skip, params, scatter, options) =>
  addon.labelNoise(positions, skip, params, scatter, options);
