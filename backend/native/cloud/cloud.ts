import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { Bounds } from "../files/readers.ts";

const addon = addonAs<CloudNative>();

export interface HitMask {
  /** u8 per row, 1 = miss or deleted; null if every row is a surviving hit. */
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  /** Rows whose is_miss is set, deleted or not. */
  readonly miss_count: number;
  readonly deleted_count: number;
}

/** Values mapped linearly from min..max to 0..65535; null without finite values. */
export interface ScaledIntensity {
  readonly intensity: NativeColumn;
  readonly min: number | null;
  readonly max: number | null;
}

export interface ColumnStats {
  readonly min: number | null;
  readonly max: number | null;
  readonly finite_count: number;
  readonly nan_count: number;
  readonly infinite_count: number;
  readonly is_constant: boolean;
  readonly is_integral: boolean;
  /** Sorted distinct values if all are integers and there are at most 4096, else null. */
  readonly distinct: readonly number[] | null;
  readonly p01: number | null;
  readonly p99: number | null;
}

export interface CloudStats {
  readonly count: number;
  readonly bounds: Bounds | null;
  /** p1..p99 per axis. */
  readonly robust_bounds: Bounds | null;
  /** 0.5 percentile of z. */
  readonly ground_z: number | null;
}

export interface PointSpacing {
  /** Metres; null with fewer than two points. */
  readonly median_m: number | null;
  readonly p95_m: number | null;
  /** The same over the sampled points whose nearest other row has another position. */
  readonly distinct_median_m: number | null;
  readonly distinct_p95_m: number | null;
  readonly sampled_count: number;
  readonly duplicate_count: number;
  readonly warnings: readonly string[];
}

export interface MissInput {
  readonly positions: NativeColumn;
  /** Flags of the file; they take precedence if any is set. */
  readonly is_miss: NativeColumn | null;
  readonly target_index: NativeColumn | null;
  /** Origin of each point, used instead of `origin`. */
  readonly beam_origins: NativeColumn | null;
  /** Scanner position, frame of the positions. */
  readonly origin: readonly [number, number, number] | null;
}

export interface MissDetection {
  /** u8 per row, 1 = miss; null if the file's flags apply or no miss was found. */
  readonly is_miss: NativeColumn | null;
  readonly by_target_index: number;
  readonly by_distance: number;
}

export interface BeamTrajectory {
  /** (t, x, y, z), seconds and metres in the frame of the origins, strictly increasing in time. */
  readonly poses: readonly (readonly [number, number, number, number])[];
  readonly distinct_times: number;
  readonly unusable: number;
}

/** How a cloud numbers the returns of a pulse. */
export interface ReturnNumbering {
  /** Number of the first return: the lowest one; null if no row has a number. */
  readonly first: number | null;
  /** Rows with it. */
  readonly first_count: number;
  /** Rows with 0 although returns count from 1: their return is unknown. */
  readonly unknown_count: number;
}

/** Numbers of returns as LAS files have them. */
export interface ReturnNumbers {
  /** They are the given columns. */
  readonly as_given: boolean;
  /** Rows whose number or count is above 15 and shortened to it. */
  readonly shortened_count: number;
  /** u8 per row, 1 to 15. */
  readonly number: NativeColumn;
  readonly count: NativeColumn;
}

export interface OpOptions {
  readonly device?: "cpu" | "cuda";
  readonly threads?: number;
}

export interface CloudNative {
  hitMask(isMiss: NativeColumn | null, deleted: NativeColumn | null, rows: number): NativeJob<HitMask>;
  columnStats(columns: readonly NativeColumn[], skip: NativeColumn | null): NativeJob<readonly ColumnStats[]>;
  cloudStats(positions: NativeColumn, skip: NativeColumn | null): NativeJob<CloudStats>;
  pointSpacing(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: { max_samples: number; seed: number | null },
    options?: OpOptions,
  ): NativeJob<PointSpacing>;
  coordinateStep(positions: NativeColumn, skip: NativeColumn | null): NativeJob<number>;
  scaleToU16(column: NativeColumn): NativeJob<ScaledIntensity>;
  mergeRgb(r: NativeColumn, g: NativeColumn, b: NativeColumn, scale: "unit" | "byte" | "u16"): NativeJob<NativeColumn>;
  interleaveTriple(
    x: NativeColumn,
    y: NativeColumn,
    z: NativeColumn,
    frame: { readonly unit_scale: number; readonly shift: readonly [number, number, number] },
  ): NativeJob<NativeColumn>;
  detectMisses(input: MissInput, farRangeM: number): NativeJob<MissDetection>;
  projectMisses(
    positions: NativeColumn,
    isMiss: NativeColumn | null,
    deleted: NativeColumn | null,
    scanner: {
      readonly origin: readonly [number, number, number] | null;
      /** vec3d, misses that are no rows. */
      readonly recovered: NativeColumn | null;
    },
  ): NativeJob<NativeColumn>;
  beamTrajectory(times: NativeColumn, origins: NativeColumn, maxPoses: number): NativeJob<BeamTrajectory>;
  toF64(column: NativeColumn): NativeJob<NativeColumn>;
  maxChannel(colors: NativeColumn): NativeJob<number>;
  returnNumbering(
    target_index: NativeColumn,
    target_count: NativeColumn | null,
    skip: NativeColumn | null,
  ): NativeJob<ReturnNumbering>;
  returnsFromOne(target_index: NativeColumn, target_count: NativeColumn | null): NativeJob<NativeColumn>;
  returnNumbers(target_index: NativeColumn, target_count: NativeColumn): NativeJob<ReturnNumbers | null>;
  areReturnNumbers(
    target_index: NativeColumn,
    target_count: NativeColumn,
    number: NativeColumn,
    count: NativeColumn,
  ): NativeJob<boolean>;
  toF32(
    column: NativeColumn,
    params: { readonly shift: readonly [number, number, number]; readonly divisor: number; readonly clamp: boolean },
  ): NativeJob<NativeColumn>;
}

/** Mask of the rows that octree and measurements use: the surviving hits. */
export const hitMask = (isMiss: NativeColumn | null, deleted: NativeColumn | null, rows: number) =>
  addon.hitMask(isMiss, deleted, rows);
/** Extremes, distinct values and percentiles of scalar columns over the rows that `skip` does not mark. */
export const columnStats = (columns: readonly NativeColumn[], skip: NativeColumn | null) =>
  addon.columnStats(columns, skip);
/** Bounds, robust bounds and ground z over the rows that `skip` does not mark. */
export const cloudStats = (positions: NativeColumn, skip: NativeColumn | null) => addon.cloudStats(positions, skip);
/** Nearest-neighbour distances of a sample, metres. */
export const pointSpacing = (
  positions: NativeColumn,
  skip: NativeColumn | null,
  params: { max_samples: number; seed: number | null },
  options?: OpOptions,
) => addon.pointSpacing(positions, skip, params, options);
/** Step that x and y are rounded to, metres; 0: too few points to tell. */
export const coordinateStep = (positions: NativeColumn, skip: NativeColumn | null) =>
  addon.coordinateStep(positions, skip);
/** Linear map of a column's finite range to 0..65535. */
export const scaleToU16 = (column: NativeColumn) => addon.scaleToU16(column);
/** Merges three channels into one colour column. Scale: "unit" 0..1, "byte" 0..255, "u16" unchanged. */
export const mergeRgb = (r: NativeColumn, g: NativeColumn, b: NativeColumn, scale: "unit" | "byte" | "u16") =>
  addon.mergeRgb(r, g, b, scale);
/** Merges three scalar columns into one vec3d column, value * unit_scale - shift. */
export const interleaveTriple: CloudNative["interleaveTriple"] = (x, y, z, frame) =>
  addon.interleaveTriple(x, y, z, frame);
/** Miss flags by echo number 99 and by distance from the scanner. */
export const detectMisses: CloudNative["detectMisses"] = (input, farRangeM) => addon.detectMisses(input, farRangeM);
/** Positions of the miss overlay: surviving and recovered misses, on a sphere around the scanner if that is known. */
export const projectMisses: CloudNative["projectMisses"] = (positions, isMiss, deleted, scanner) =>
  addon.projectMisses(positions, isMiss, deleted, scanner);
/** f32 copy of any column, triples flattened: (value + shift for positions) / divisor. */
export const toF32: CloudNative["toF32"] = (column, params) => addon.toF32(column, params);
/** f64 copy of a scalar column. */
export const toF64 = (column: NativeColumn) => addon.toF64(column);
/** Largest channel value of a colour column. */
export const maxChannel = (colors: NativeColumn) => addon.maxChannel(colors);
/** How a cloud numbers the returns of a pulse. */
export const returnNumbering: CloudNative["returnNumbering"] = (target_index, target_count, skip) =>
  addon.returnNumbering(target_index, target_count, skip);
/** Return numbers counted from 1, of a cloud that counts from 0. */
export const returnsFromOne: CloudNative["returnsFromOne"] = (target_index, target_count) =>
  addon.returnsFromOne(target_index, target_count);
/** Return numbers of LAS; null if a value is no whole number from 0 to 255. */
export const returnNumbers: CloudNative["returnNumbers"] = (target_index, target_count) =>
  addon.returnNumbers(target_index, target_count);
/** Whether two columns are the LAS return numbers of the others. */
export const areReturnNumbers: CloudNative["areReturnNumbers"] = (target_index, target_count, number, count) =>
  addon.areReturnNumbers(target_index, target_count, number, count);
/** The scanner's path from per-pulse times and beam origins. */
export const beamTrajectory = (times: NativeColumn, origins: NativeColumn, maxPoses: number) =>
  addon.beamTrajectory(times, origins, maxPoses);
