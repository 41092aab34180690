import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { VoxelBox } from "./surfaces.ts";

type Triple = readonly [number, number, number];

/** Rows of a scan of single returns, hits and misses; columns of one length. */
export interface ViewRows {
  /** vec3d, metres; a miss lies anywhere along its beam. */
  readonly positions: NativeColumn;
  /** Added to positions: the frame of the grid. */
  readonly shift: Triple;
  /** Non-zero = miss. */
  readonly is_miss: NativeColumn | null;
  /** u8, non-zero = hides what is behind it, but is no leaf. */
  readonly deleted: NativeColumn | null;
  /** u8, 0 = the same; null = every hit is a leaf. */
  readonly is_leaf: NativeColumn | null;
}

/** A scanner that stood still: its rows and those of its restored misses. */
export interface ViewedScan {
  /** Frame of the grid. */
  readonly origin: Triple;
  readonly rows: readonly ViewRows[];
}

export interface CaptureRecaptureParams {
  /** f64, one value or one per layer of the grid. */
  readonly g: NativeColumn;
  readonly range_noise_m: number;
  /** 0 = unknown: leaves may be as wide as beams lie apart. */
  readonly leaf_width_m: number;
}

/** Leaf area by the number of scanners that see it; null = unknown. */
export interface CaptureRecapture {
  readonly seen_by_m2: readonly number[];
  readonly seen_m2: number;
  readonly leaf_area_m2: number | null;
  readonly lower_m2: number | null;
  readonly upper_m2: number | null;
  readonly hit_count: number;
  /** Mean distance of these hits to the next beam, metres; 0 without hits. */
  readonly spacing_m: number;
  /** How often another scanner that sees a place has a hit there, over how often a beam beside it has; null = unknown. */
  readonly agreement: number | null;
}

/** Beams that were looked at, those amid hits of one surface, and how many of these are misses. */
export interface LostHits {
  readonly looked_at: number;
  readonly between: number;
  readonly lost: number;
}

export interface CaptureRecaptureNative {
  lostHits(scan: ViewedScan): NativeJob<LostHits>;
  lostHitsBytes(rows: number): number;
  captureRecapture(
    scans: readonly ViewedScan[],
    grid: VoxelBox,
    params: CaptureRecaptureParams,
  ): NativeJob<CaptureRecapture>;
  captureRecaptureBytes(rows: readonly number[]): number;
}

const addon = addonAs<CaptureRecaptureNative>();

/** Leaf area in a grid from what several scanners see of it, with what none sees. */
export const captureRecapture: CaptureRecaptureNative["captureRecapture"] = (scans, grid, params) =>
  addon.captureRecapture(scans, grid, params);
/** Memory that captureRecapture needs besides its input, bytes; `rows` of each scan. */
export const captureRecaptureBytes: CaptureRecaptureNative["captureRecaptureBytes"] = (rows) =>
  addon.captureRecaptureBytes(rows);
/** Whether hits were taken out of a scan whose misses are known; at most about 50,000 beams are looked at. */
export const lostHits: CaptureRecaptureNative["lostHits"] = (scan) => addon.lostHits(scan);
/** Memory that lostHits needs, bytes. */
export const lostHitsBytes: CaptureRecaptureNative["lostHitsBytes"] = (rows) => addon.lostHitsBytes(rows);
