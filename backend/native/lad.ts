import type { LostHits } from "./capture-recapture.ts";
import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { SurfaceMesh, VoxelBox } from "./surfaces.ts";

type Triple = readonly [number, number, number];

/** The pulses of one scan, a row per return or miss; lengths are n unless stated. */
export interface BeamScan {
  /** vec3d, metres; a miss lies anywhere along its beam. */
  readonly positions: NativeColumn;
  /** vec3d, beam origin of each row or one for all; frame of positions. */
  readonly origins: NativeColumn;
  /** Added to positions and origins: the frame of the grid. */
  readonly shift: Triple;
  /** Non-zero = miss. */
  readonly is_miss: NativeColumn | null;
  /** u8, non-zero = deleted. */
  readonly deleted: NativeColumn | null;
  /** f64, seconds: equal times form a pulse; null = every row is a pulse. */
  readonly timestamps: NativeColumn | null;
  /** With timestamps: number of the return in its pulse. */
  readonly target_index: NativeColumn | null;
  /** Absent or null: the rows of a pulse count alike. */
  readonly shares?: PulseShares | null;
}

/** How much of its pulse a return stands for: intensity * scale + offset. */
export interface PulseShares {
  readonly intensity: NativeColumn;
  readonly scale: number;
  readonly offset: number;
  /** Partly intercepted pulses have a miss, so the returns of the others make up the whole pulse. */
  readonly partial_misses: boolean;
}

/** Energy of the pulses with a hit in the grid; 1 = what a leaf that fills the beam and faces it sends back. */
export interface EnergyBalance {
  /** Pulses without a miss. */
  readonly whole_pulses: number;
  readonly whole_energy: number;
  /** Of pulses with a miss. */
  readonly partial_energy: number;
  /** With and without a miss. */
  readonly pulses: number;
  /** Of these, the ones that send back 1.25 times leaf_intensity and more (kBright of the addon). */
  readonly bright_pulses: number;
}

export type WholeAndPartial = Pick<EnergyBalance, "whole_pulses" | "whole_energy" | "partial_energy">;

export interface BeamScanCounts {
  readonly pulse_count: number;
  /** Misses with a direction. */
  readonly miss_count: number;
  /** Rows not finite, or at their beam origin. */
  readonly unusable_count: number;
  /** Of these, misses. */
  readonly unusable_miss_count: number;
  /** Deleted hits inside the grid. */
  readonly deleted_inside_count: number;
  /** Rows of one time were taken as one pulse. */
  readonly grouped: boolean;
  /** Not grouped, because different pulses have the same time. */
  readonly times_repeat: boolean;
}

/** Fields of a voxel in `sums`: 8 powers of the chord over the diagonal, transmitted share, its square, hits. */
export const SUM_FIELDS = 11;
export const SUM_TRANSMITTED = 8;
export const SUM_HITS = 10;

export interface TracedBeams {
  /** f64, (cells, SUM_FIELDS), k-major. */
  readonly sums: NativeColumn;
  /** f64, sums for the variance; null unless a scan has shares. */
  readonly reach: NativeColumn | null;
  /** Beams that reach the grid by their angle to the vertical, equal bins of 0 .. 90 degrees. */
  readonly zenith_count: readonly number[];
  readonly beam_count: number;
  readonly scans: readonly BeamScanCounts[];
  /** Why the CPU summed up what the GPU was asked for. */
  readonly warnings: readonly string[];
}

/** Beam origins of a moving scanner. */
export interface TrajectoryJoin {
  /** vec3d per row; NaN without a finite time. */
  readonly origins: NativeColumn;
  readonly untimed_count: number;
  /** Rows before the first or after the last pose. */
  readonly outside_count: number;
  /** Of the rows with a time, seconds; null without. */
  readonly first_time_s: number | null;
  readonly last_time_s: number | null;
}

export const LEAF_ANGLE_LAWS = [
  "spherical",
  "planophile",
  "erectophile",
  "plagiophile",
  "extremophile",
  "uniform",
] as const;

/** Distribution of leaf inclinations. */
export type LeafAngleDensity =
  | { readonly law: (typeof LEAF_ANGLE_LAWS)[number] }
  | { readonly law: "beta"; readonly beta_mu: number; readonly beta_nu: number };

/** Triangles of leaves; scan_ids f64, the row of origins (vec3d) that each is seen from. */
export interface LeafMesh extends SurfaceMesh {
  readonly scan_ids: NativeColumn;
  readonly origins: NativeColumn;
}

export interface VoxelProjection {
  readonly g: NativeColumn;
  readonly triangle_count: number;
  /** Mean cosine at which beams hit the triangles, all voxels together. */
  readonly hit_cosine: number;
  /** G of all voxels together; 0 without triangles. */
  readonly mean_g: number;
  readonly facing: number;
  /** With `limits`: how far leaves are turned to one side of the beams; 0 for uniform azimuths. */
  readonly sideways: number;
  /** With `limits`: G is averaged over the azimuths of the leaves; false: `facing` or `sideways` says that they are not uniform. */
  readonly uniform_azimuths: boolean;
  /** With `limits`: share of the triangles that fold against all their neighbours; up to MOST_FOLDED they are left out. */
  readonly folded: number;
  /** With `limits`: triangles that tell inclinations; without any, G means nothing. */
  readonly telling_count: number;
  /** With `limits`: median distance of neighbouring beams where they meet leaves, metres. */
  readonly spacing_m: number;
  /** With `limits`: part of the leaf area at inclinations that the beams hardly see. */
  readonly hardly_seen: number;
  /**
   * With `limits` and uniform azimuths: G of a beam is the factor of its bin (of zenith_count) times `beam_g` (f64) of the
   * voxel; else empty and null.
   */
  readonly beam_factors: readonly number[];
  readonly beam_g: NativeColumn | null;
  /** With `limits`; else null. */
  readonly error: ProjectionError | null;
}

/** How far G of triangles may be off: variances as a part of G squared, for leaves of 1 m2. */
export interface ProjectionError {
  /** f64, of each voxel. */
  readonly scatter: NativeColumn;
  /** Of the shares of all voxels together. */
  readonly of_all: number;
  /** Standard error common to all voxels, as a part of G. */
  readonly bias: number;
  /** Variance of G between the inclinations as a part of its square. */
  readonly spread: number;
}

/** Above, the noise of the ranges folds the leaves themselves, and no triangle is left out (kMostFolded of the addon). */
export const MOST_FOLDED = 0.25;

export interface LadNative {
  traceBeams(
    scans: readonly BeamScan[],
    grid: VoxelBox,
    factors: NativeColumn | null,
    options?: OpOptions,
  ): NativeJob<TracedBeams>;
  traceBeamsBytes(rows: number, cells: number): number;
  lostHitsMoving(parts: readonly BeamScan[]): NativeJob<LostHits>;
  voxelViews(scans: readonly BeamScan[], grid: VoxelBox): NativeJob<NativeColumn>;
  energyBalance(scan: BeamScan, grid: VoxelBox): NativeJob<EnergyBalance>;
  partialCosine(balance: WholeAndPartial, hit_cosine: number): number;
  trajectoryJoin(
    times: NativeColumn,
    poses: NativeColumn,
    params: { readonly lever_arm: Triple; readonly shift: Triple },
  ): NativeJob<TrajectoryJoin>;
  meanLeafProjection(density: LeafAngleDensity, zenith_count: readonly number[]): NativeJob<number>;
  leafProjectionBins(density: LeafAngleDensity): NativeJob<readonly number[]>;
  meanHitCosine(density: LeafAngleDensity, zenith_count: readonly number[]): NativeJob<number>;
  likelyHitCosine(
    g: number,
    zenith_count: readonly number[],
  ): NativeJob<{ readonly hit_cosine: number; readonly g: number }>;
  voxelProjection(
    mesh: LeafMesh,
    grid: VoxelBox,
    limits: { readonly lmax_m: number; readonly max_aspect_ratio: number } | null,
  ): NativeJob<VoxelProjection>;
}

const addon = addonAs<LadNative>();

/**
 * Sums up the beams of all scans over the voxels they cross. `factors` (f64) of their chords by the bin of zenith_count, in all
 * layers or one after the other.
 */
export const traceBeams: LadNative["traceBeams"] = (scans, grid, factors, options) =>
  addon.traceBeams(scans, grid, factors, options);
/** Memory that traceBeams needs besides its input, bytes. */
/** How the scanners see each voxel (f64, 3 values): alignment of the beams, crowding of the pulses, pulses towards it. */
export const voxelViews: LadNative["voxelViews"] = (scans, grid) => addon.voxelViews(scans, grid);
export const traceBeamsBytes: LadNative["traceBeamsBytes"] = (rows, cells) => addon.traceBeamsBytes(rows, cells);
/** lostHits of a scanner that moves: rows of one scan and of its recovered misses. Memory: lostHitsBytes. */
export const lostHitsMoving: LadNative["lostHitsMoving"] = (parts) => addon.lostHitsMoving(parts);
/** Energies of a scan with shares, whose scale and offset give them in the unit of the balance. */
export const energyBalance: LadNative["energyBalance"] = (scan, grid) => addon.energyBalance(scan, grid);
/** Mean cosine at which partly intercepted pulses meet leaves, given that of all rays; NaN if the energies contradict it. */
export const partialCosine: LadNative["partialCosine"] = (balance, hit_cosine) =>
  addon.partialCosine(balance, hit_cosine);
/** Beam origins at the times (f64); `poses` f64: t, x, y, z, qx, qy, qz, qw of each. */
export const trajectoryJoin: LadNative["trajectoryJoin"] = (times, poses, params) =>
  addon.trajectoryJoin(times, poses, params);
/** Mean leaf projection function over beams. */
export const meanLeafProjection: LadNative["meanLeafProjection"] = (density, zenith_count) =>
  addon.meanLeafProjection(density, zenith_count);
/** Leaf projection function at the bins of zenith_count. */
export const leafProjectionBins: LadNative["leafProjectionBins"] = (density) => addon.leafProjectionBins(density);
/** Mean cosine at which beams hit leaves of such inclinations. */
export const meanHitCosine: LadNative["meanHitCosine"] = (density, zenith_count) =>
  addon.meanHitCosine(density, zenith_count);
/** The same of the ellipsoidal law whose mean G is `g`, or comes closest to it, with its G. */
export const likelyHitCosine: LadNative["likelyHitCosine"] = (g, zenith_count) =>
  addon.likelyHitCosine(g, zenith_count);
/**
 * Leaf projection function of every voxel (f64; 0 = no triangles) from the triangles with their centroid in it. `limits`:
 * those that the triangles of a scan have passed; grazing leaves, which lose theirs, are then made up for, and `facing` is
 * the mean projection of the triangles as a share of that for uniform azimuths (else 1).
 */
export const voxelProjection: LadNative["voxelProjection"] = (mesh, grid, limits) =>
  addon.voxelProjection(mesh, grid, limits);
