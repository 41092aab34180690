import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Returns of a scan, deleted ones included; columns of one length. */
export interface ReturnRows {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** vec3d, beam origin of each row or one for all; frame of positions. */
  readonly origins: NativeColumn;
  /** f64, seconds: equal times form a pulse. */
  readonly times: NativeColumn;
  /** Number of the return in its pulse. */
  readonly target_index: NativeColumn;
  /** Non-zero = no return; null = all are. */
  readonly is_miss: NativeColumn | null;
}

/** Poses that the origins come from; as for trajectoryJoin. */
export interface FittedTrajectory {
  readonly poses: NativeColumn;
  readonly lever_arm: Triple;
  readonly shift: Triple;
}

/** How well the origins fit the lines through the first and last returns of pulses. */
export interface OriginFit {
  /** Pulses looked at; 0 = the rows tell nothing. */
  readonly line_count: number;
  /** Median distance of a first return from the line origin - last return, metres. */
  readonly off_m: number;
  /** Of all origins, metres: they then fit best. */
  readonly shift: Triple;
  /** Standard error of its length. */
  readonly shift_error_m: number;
  readonly shifted_off_m: number;
  /** With a trajectory: the clock within 120 s that fits best. */
  readonly clock: ClockFit | null;
}

export interface ClockFit {
  /** To be added to the times of the rows. */
  readonly clock_s: number;
  /** The median then; null if no clock has half of the pulses within the poses. */
  readonly off_m: number | null;
  /** Median distance that the origins move then. */
  readonly moved_m: number | null;
}

/** The sphere on which misses lie that were placed at one distance from their scanner. */
export interface MissSphere {
  /** Misses looked at. */
  readonly count: number;
  readonly center: Triple;
  readonly radius_m: number;
  /** Standard deviation of the distances from the center, and from the given origin. */
  readonly spread_m: number;
  readonly spread_from_origin_m: number;
}

export interface BeamOriginsNative {
  originFit(rows: ReturnRows, trajectory: FittedTrajectory | null): NativeJob<OriginFit>;
  missSphere(rows: {
    readonly positions: NativeColumn;
    readonly is_miss: NativeColumn;
    readonly origin: Triple;
  }): NativeJob<MissSphere>;
}

const addon = addonAs<BeamOriginsNative>();

/** Where beams come from, by the returns of pulses that have several. */
export const originFit: BeamOriginsNative["originFit"] = (rows, trajectory) => addon.originFit(rows, trajectory);
/** Where the scanner was, by its misses. */
export const missSphere: BeamOriginsNative["missSphere"] = (rows) => addon.missSphere(rows);
