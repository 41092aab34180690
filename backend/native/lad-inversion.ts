import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { ProjectionError } from "./lad.ts";
import type { VoxelBox } from "./surfaces.ts";

type Triple = readonly [number, number, number];

export interface InversionParams {
  readonly voxel_size: Triple;
  readonly nx: number;
  readonly ny: number;
  readonly nz: number;
  readonly min_beams: number;
  readonly element_width_m: number;
  readonly occlusion_threshold_m: number;
  /** Of traceBeams. */
  readonly reach: NativeColumn | null;
  /** Absent or null: everything is leaf. */
  readonly labels?: HitLabels | null;
  /** Absent or null: the beams of a voxel have the same G. */
  readonly optical?: OpticalSums | null;
  /** Absent or null: G is taken as known. */
  readonly measured?: ProjectionError | null;
  /** Absent or null: leaves without number, whose chance adds nothing to the error. */
  readonly few?: FewLeaves | null;
}

/** `views` of voxelViews (f64), and the variance of |normal . beam| of a leaf as a part of G squared. */
export interface FewLeaves {
  readonly views: NativeColumn;
  readonly spread: number;
}

/** Of traceBeams with factors G of the beam / g (f64), and this g: that of all voxels, of each layer or of each voxel. */
export interface OpticalSums {
  readonly sums: NativeColumn;
  readonly g: NativeColumn;
}

/** Hits of every voxel by label (u32, cells), and the projection of wood over its whole surface. */
export interface HitLabels {
  readonly wood: NativeColumn;
  readonly leaf: NativeColumn;
  readonly wood_g: number;
}

/** Rows of a scan, of which those with a byte above 0 are counted. */
export interface CountedHits {
  readonly positions: NativeColumn;
  readonly shift: Triple;
  /** u8 */
  readonly is_counted: NativeColumn;
}

/** Bits of a voxel's state. */
export const VOXEL = { solved: 1, occluded: 2, trusted: 4, filled: 8, probed: 16 } as const;

export interface InvertedBeams {
  /** f64, m2/m3; 0 where not solved. */
  readonly lad: NativeColumn;
  /** f64; NaN where not solved. */
  readonly variance: NativeColumn;
  /** u8, bits of VOXEL. */
  readonly state: NativeColumn;
  /** f64, surface of the wood, m2/m3; null without labels. */
  readonly wad: NativeColumn | null;
  /** f64, standard error of lad with that of few leaves and of a measured G, which `variance` is without; NaN where not solved. */
  readonly error: NativeColumn;
  /** Part of G by which a measured one may be off in all voxels alike. */
  readonly common_g_error: number;
  readonly totals: {
    readonly leaf_area_m2: number;
    readonly wood_area_m2: number;
    /** Of occluded voxels that are solved, by the few beams that reach them. */
    readonly occluded_leaf_area_m2: number;
    readonly occluded_count: number;
    readonly solved_count: number;
    readonly group_count: number;
    readonly group_mean: number;
    readonly group_half_width: number;
  };
}

/** Whole voxels, and the layers of them that are compared with their eighths. */
export interface ComparedVoxels extends Pick<InversionParams, "voxel_size" | "nx" | "ny" | "nz" | "min_beams"> {
  readonly first_layer: number;
  readonly layers: number;
}

/** Leaf area of the same voxels, from themselves and from their eighths. */
export interface Clumping {
  readonly whole_m2: number;
  readonly eighths_m2: number;
  readonly voxel_count: number;
}

export interface FilledVoxels {
  readonly lad: NativeColumn;
  readonly state: NativeColumn;
  readonly method: "kriging" | "layer_mean" | "none";
  readonly filled_count: number;
}

export interface LadInversionNative {
  hitCounts(scans: readonly CountedHits[], grid: VoxelBox): NativeJob<NativeColumn>;
  invertBeams(sums: NativeColumn, g: NativeColumn, params: InversionParams): NativeJob<InvertedBeams>;
  clumping(whole: NativeColumn, eighths: NativeColumn, g: NativeColumn, params: ComparedVoxels): NativeJob<Clumping>;
  elementGain(leaves: { readonly width_m: number; readonly voxel_size: Triple }): NativeJob<number>;
  fillOccluded(voxels: Pick<InvertedBeams, "lad" | "variance" | "state">, grid: VoxelBox): NativeJob<FilledVoxels>;
}

const addon = addonAs<LadInversionNative>();

/** Number of the counted hits in every voxel (u32). */
export const hitCounts: LadInversionNative["hitCounts"] = (scans, grid) => addon.hitCounts(scans, grid);
/** Leaf area density of every voxel; `g` has a value per voxel, per layer, or one. */
export const invertBeams: LadInversionNative["invertBeams"] = (sums, g, params) => addon.invertBeams(sums, g, params);
/** Leaf area from the sums of voxels and from those of the eighths of some layers, where all of these have enough beams. */
export const clumping: LadInversionNative["clumping"] = (whole, eighths, g, params) =>
  addon.clumping(whole, eighths, g, params);
/** Density found over the true one of leaves of a width at random places; at most as wide as the smallest edge. */
export const elementGain: LadInversionNative["elementGain"] = (leaves) => addon.elementGain(leaves);
/** Estimates occluded voxels by kriging, else by the mean of their layer. */
export const fillOccluded: LadInversionNative["fillOccluded"] = (voxels, grid) => addon.fillOccluded(voxels, grid);
