import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Surfaces of a scan and their trees; it never changes. */
export interface NativeScanScene {
  release(): void;
}

/** Triangles as a request has them; null = not given. */
export interface SurfaceLists {
  /** vec3d, metres. */
  readonly vertices: NativeColumn | null;
  /** vec3d, or f64 with three per triangle. */
  readonly triangles: NativeColumn | null;
  /** vec3d, 0..1. */
  readonly colors: NativeColumn | null;
  /** f64, two per vertex. */
  readonly uvs: NativeColumn | null;
  /** f64, per triangle. */
  readonly organs: NativeColumn | null;
  /** f64 lists of triangles. */
  readonly materials: readonly { readonly texture: number; readonly triangles: NativeColumn }[];
  /** f64, per triangle: index in material_textures; beyond it = none. */
  readonly triangle_textures: NativeColumn | null;
  readonly material_textures: readonly (number | null)[];
}

export interface SceneMesh {
  /** For messages. */
  readonly name: string;
  /** Added to all coordinates, metres. */
  readonly origin: Triple;
  readonly surfaces: SurfaceLists;
  readonly prototypes: SurfaceLists | null;
  readonly firsts: readonly number[];
  /** f64. */
  readonly instance_prototype: NativeColumn | null;
  readonly instance_matrix: NativeColumn | null;
}

export interface SceneTexture {
  readonly width: number;
  readonly height: number;
  /** u8, four per texel, row 0 at the top. */
  readonly rgba: NativeColumn;
  /** Where alpha is below 128 there is nothing. */
  readonly has_holes: boolean;
}

export interface OpenedScene {
  readonly scene: NativeScanScene;
  /** Instances counted in full. */
  readonly triangle_count: number;
  readonly has_colors: boolean;
  readonly has_organs: boolean;
  /** Meshes with materials but without texture coordinates. */
  readonly unused_texture_count: number;
}

/** cpp/ops/ray/scan_pattern.h. */
export interface ScanPattern {
  readonly kind: "raster" | "spinning_multibeam" | "risley_prism";
  readonly row_count: number;
  readonly pulse_count: number;
  readonly theta_first_rad: number;
  readonly theta_step_rad: number;
  readonly phi_first_rad: number;
  readonly phi_step_rad: number;
  readonly channel_theta_rad: readonly number[];
  readonly prisms: readonly {
    readonly wedge_angle_rad: number;
    readonly refractive_index: number;
    readonly rotor_rate_hz: number;
    readonly phase_rad: number;
  }[];
  readonly index_outside: number;
  readonly pulse_rate_hz: number;
}

/** cpp/ops/ray/synthetic_scan.h. */
export interface SyntheticScanParams {
  readonly pattern: ScanPattern;
  readonly origin: Triple;
  readonly tilt_roll_rad: number;
  readonly tilt_pitch_rad: number;
  /** null: the scanner stands still. */
  readonly trajectory: {
    /** f64, eight per pose: t, x, y, z, qx, qy, qz, qw; unit quaternions. */
    readonly poses: NativeColumn;
    readonly lever_arm: Triple;
    /** Radians. */
    readonly boresight_rpy: Triple;
  } | null;
  readonly first_time_s: number;
  readonly pulse_interval_s: number;
  readonly rays_per_pulse: number;
  readonly exit_diameter_m: number;
  readonly divergence_rad: number;
  readonly pulse_distance_m: number;
  readonly detection_energy: number;
  readonly range_noise_m: number;
  readonly angle_noise_rad: number;
  readonly is_multi_return: boolean;
  readonly max_returns: number;
  readonly selection: "strongest" | "first" | "last";
  readonly record_misses: boolean;
  readonly box: { readonly center: Triple; readonly size: Triple; readonly rotation_rad: number } | null;
  readonly seed: number;
  readonly scan_index: number;
  readonly scratch_bytes: number;
}

/** One row per return and recorded miss; null = the scan does not have it. */
export interface SyntheticScanColumns {
  readonly positions: NativeColumn;
  readonly is_miss: NativeColumn;
  readonly intensity: NativeColumn;
  readonly intensity_16: NativeColumn;
  readonly distance: NativeColumn;
  readonly time: NativeColumn;
  readonly target_index: NativeColumn;
  readonly target_count: NativeColumn;
  readonly color: NativeColumn | null;
  readonly organ: NativeColumn | null;
  readonly deviation: NativeColumn | null;
  readonly ray_count: NativeColumn | null;
  readonly pulse: NativeColumn | null;
  readonly beam_origin: NativeColumn | null;
}
export interface SyntheticScan extends SyntheticScanColumns {
  readonly hit_count: number;
  readonly miss_count: number;
  readonly pulse_count: number;
  /** Why the CPU traced what the GPU was asked for. */
  readonly warnings: readonly string[];
}

export interface RayNative {
  openScanScene(meshes: readonly SceneMesh[], textures: readonly SceneTexture[]): NativeJob<OpenedScene>;
  syntheticScan(scene: NativeScanScene, params: SyntheticScanParams, options?: OpOptions): NativeJob<SyntheticScan>;
  hitFloats(
    column: NativeColumn,
    is_miss: NativeColumn,
  ): NativeJob<{ readonly values: NativeColumn; readonly largest: number }>;
}

const addon = addonAs<RayNative>();

/** Trees of the surfaces of a scan. */
export const openScanScene: RayNative["openScanScene"] = (meshes, textures) => addon.openScanScene(meshes, textures);
/** The returns of all pulses of a scanner. */
export const syntheticScan: RayNative["syntheticScan"] = (scene, params, options) =>
  addon.syntheticScan(scene, params, options);
/** The hits of a column in float32: three values per row of positions and colours, those 0..1. */
export const hitFloats: RayNative["hitFloats"] = (column, is_miss) => addon.hitFloats(column, is_miss);
