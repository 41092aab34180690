import type { OpOptions } from "../cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";

const addon = addonAs<DenoiseNative>();

/** How `auto` finds mixed pixels (ops/denoise/mixed_pixel.h). Angles in steps between neighbouring beams, lengths in metres. */
export interface MixedPixelParams {
  readonly max_spacing: number;
  readonly support_steps: number;
  readonly support_slope: number;
  readonly edge_steps: number;
  readonly edge_depth: number;
  readonly edge_support: number;
  readonly line_steps: number;
  readonly line_slope: number;
  readonly line_tolerance: number;
  readonly inconsistent_share: number;
}

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
      readonly ball_factor: number;
      readonly most_thin: number;
      readonly min_ball_link: number;
      readonly surface_factor: number;
      readonly most_uneven: number;
      readonly min_link: number;
      readonly max_link: number;
      readonly cluster_points: number;
      readonly gap_factor: number;
      /** null = where the beams come from is not known. `origins`: vec3d, one or one per row. */
      readonly beams: (MixedPixelParams & { readonly origins: NativeColumn }) | null;
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

/** What came of the search for mixed pixels. */
export interface MixedPixels {
  /** Median angle between neighbouring beams; 0 = not measurable. */
  readonly step_rad: number;
  /** Share of sampled points that contradict the beam origins. */
  readonly inconsistent_share: number;
  /** False: the origins do not explain the points, and no mixed pixel was labelled. */
  readonly consistent: boolean;
  /** True: too many origins for scans from fixed places; no mixed pixel was labelled. */
  readonly moving: boolean;
  /** Points where beams are more than max_spacing apart: never labelled as mixed pixels. */
  readonly coarse_count: number;
  /** Points without a finite origin: never labelled as mixed pixels. */
  readonly unknown_count: number;
  readonly labelled_count: number;
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
  /** null unless `beams` were given. */
  readonly mixed_pixels: MixedPixels | null;
}

/** Whether points can have been seen from where their beams are said to come from. */
export interface BeamConsistency {
  /** Points without a finite origin. */
  readonly unknown_count: number;
  /** False: a moving scanner, or no angle between beams. */
  readonly is_measured: boolean;
  /** Of sampled points: another beam of the scan ends beside theirs at a clearly different range. */
  readonly inconsistent_share: number;
}

export interface DenoiseNative {
  labelNoise(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: NoiseParams,
    scatter: boolean,
    options?: OpOptions,
  ): NativeJob<NoiseLabels>;
  beamOriginsOfScans(
    scanIndex: NativeColumn,
    scans: readonly { readonly scan_index: number; readonly origin: readonly [number, number, number] }[],
  ): NativeJob<NativeColumn>;
  beamConsistency(positions: NativeColumn, origins: NativeColumn): NativeJob<BeamConsistency>;
}

/** Labels the rows that `skip` (of hitMask) does not mark as clean or noise. Errors: invalid_argument. */
export const labelNoise: DenoiseNative["labelNoise"] = (positions, skip, params, scatter, options) =>
  addon.labelNoise(positions, skip, params, scatter, options);
/** The beam origin of every row (vec3d) from the number of its scan; NaN where `scans` lacks the number. */
export const beamOriginsOfScans: DenoiseNative["beamOriginsOfScans"] = (scanIndex, scans) =>
  addon.beamOriginsOfScans(scanIndex, scans);
/** Compares hits with their beams. `origins`: vec3d, one or one per hit. */
export const beamConsistency: DenoiseNative["beamConsistency"] = (positions, origins) =>
  addon.beamConsistency(positions, origins);
