import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

type Triple = readonly [number, number, number];

/** Whether times tell the pulses of a scan apart. */
export type PulseClock = "usable" | "constant" | "untimed" | "rounded";

/** How the pulses of a scan are told: by their times, by row and column, by the settings of the scanner. */
export type MissRoute = "clock" | "grid" | "declared";

/** cpp/ops/misses/miss_recovery.h; lengths are n. */
export interface ScanRows {
  /** vec3d, metres. */
  readonly positions: NativeColumn;
  /** u8, non-zero = no return; null = all are. */
  readonly skip: NativeColumn | null;
  /** f64, seconds. */
  readonly times: NativeColumn | null;
  /** Whole numbers; below 0 = none. */
  readonly row_index: NativeColumn | null;
  readonly column_index: NativeColumn | null;
}

/** cpp/ops/misses/declared_raster.h; rows and columns 0: not declared. */
export interface DeclaredScan {
  readonly origin: Triple;
  readonly right: Triple;
  readonly ahead: Triple;
  readonly up: Triple;
  readonly rows: number;
  readonly columns: number;
  readonly theta_min_rad: number;
  readonly theta_max_rad: number;
  readonly phi_min_rad: number;
  readonly phi_max_rad: number;
}

/** Columns have one value per miss. */
export interface RecoveredMisses {
  /** vec3d, 20 km from the scanner. */
  readonly positions: NativeColumn;
  /** f64, seconds; null if they are not known. */
  readonly times: NativeColumn | null;
  /** u32. */
  readonly row_index: NativeColumn;
  readonly column_index: NativeColumn;
  readonly rows: number;
  readonly columns: number;
  readonly return_count: number;
  /** Returns without a cell. */
  readonly off_count: number;
  /** Median distance of a return from its cell's direction, in steps. */
  readonly median_residual: number;
}

/** A scanner on a moving body. */
export interface MovingScanner {
  /** f64, eight per pose: t, x, y, z, qx, qy, qz, qw. */
  readonly poses: NativeColumn;
  readonly lever_arm: Triple;
  /** Radians. */
  readonly boresight_rpy: Triple;
}

export interface MissRecoveryParams {
  readonly route: MissRoute;
  readonly scan: DeclaredScan;
  /** Of the raster. */
  readonly max_cells: number;
  /** The scanner moved: half of the returns may be a whole step beside their pulses (else a quarter), as times tell the cells. */
  readonly moved: boolean;
}

export interface MissesNative {
  checkPulseClock(
    rows: Pick<ScanRows, "positions" | "skip"> & { readonly times: NativeColumn },
    scanner: { readonly origin: Triple },
    mostAngleRad: number,
  ): NativeJob<PulseClock>;
  recoverMisses(rows: ScanRows, params: MissRecoveryParams): NativeJob<RecoveredMisses>;
  toScannerFrame(positions: NativeColumn, times: NativeColumn, scanner: MovingScanner): NativeJob<NativeColumn>;
  fromScannerFrame(
    positions: NativeColumn,
    times: NativeColumn,
    scanner: MovingScanner,
  ): NativeJob<{ readonly positions: NativeColumn; readonly origins: NativeColumn }>;
}

const addon = addonAs<MissesNative>();

/** Whether returns with equal times lie in one direction, within an angle. */
export const checkPulseClock: MissesNative["checkPulseClock"] = (rows, scanner, mostAngleRad) =>
  addon.checkPulseClock(rows, scanner, mostAngleRad);
/** The pulses of a scan that returned nothing. Errors: invalid_argument if the route finds no raster. */
export const recoverMisses: MissesNative["recoverMisses"] = (rows, params) => addon.recoverMisses(rows, params);
/** Points as a moving scanner saw them at their times. */
export const toScannerFrame: MissesNative["toScannerFrame"] = (positions, times, scanner) =>
  addon.toScannerFrame(positions, times, scanner);
/** Its inverse, with the optical centre of each point. */
export const fromScannerFrame: MissesNative["fromScannerFrame"] = (positions, times, scanner) =>
  addon.fromScannerFrame(positions, times, scanner);
