// Scans of rasters by formula: which pulses return is known, so what is recovered of the others can be checked.
import type { DeclaredScan } from "../../backend/native/misses.ts";
import { gaussian, type Uniform, uniform } from "./random.ts";

export type Triple = readonly [number, number, number];

/** A raster scanner: zenith from 30 to 130 degrees, a column after the other, five pulses unused between them. */
const ROWS = 300;
const COLUMNS = 600;
const IDLE = 5;
const PERIOD_S = 1e-5;
const START_S = 4e8;
const THETA_MIN = Math.PI / 6;
const THETA_STEP = (Math.PI * 100) / 180 / (ROWS - 1);
const PHI_STEP = (Math.PI * 357) / 180 / (COLUMNS - 1);
/** Pulses above this row see the sky. */
const SKYLINE = 20;

/** What a scanner does to its raster. */
export interface Disturbance {
  /** Normal deviation of each direction, steps. */
  readonly jitter?: number;
  /** About +x, degrees; the scanner knows it. */
  readonly tilt_deg?: number;
  /** Rows and columns that have no return at all. */
  readonly lost?: readonly number[];
  /** Time stamps are rounded to this part of the time between pulses. */
  readonly rounding?: number;
  readonly origin?: Triple;
  /** Coordinates are rounded to this, metres. */
  readonly resolution_m?: number;
}

export interface FormulaScan {
  readonly xyz: Float64Array;
  readonly times: Float64Array;
  readonly row: Int32Array;
  readonly column: Int32Array;
  /** Directions of the pulses without a return, by row + ROWS column. */
  readonly misses: ReadonlyMap<number, Triple>;
  readonly declared: DeclaredScan;
  readonly step_rad: number;
  /** Of the pulse at a place of the raster. */
  readonly pulse: (row: number, column: number) => number;
}

const turned = ([x, y, z]: Triple, a: number): Triple => [
  x,
  Math.cos(a) * y - Math.sin(a) * z,
  Math.sin(a) * y + Math.cos(a) * z,
];

function direction(row: number, column: number, tilt: number): Triple {
  const [theta, phi] = [THETA_MIN + THETA_STEP * row, PHI_STEP * (column + row / (ROWS + IDLE))];
  return turned([Math.sin(theta) * Math.sin(phi), Math.sin(theta) * Math.cos(phi), Math.cos(theta)], tilt);
}

/** A crown: sky above, and half of the other pulses pass it. */
const returns = (row: number, column: number, lost: readonly number[], next: Uniform): boolean =>
  next() < 0.5 && row >= SKYLINE && !lost.includes(row) && !lost.includes(column);

export function formulaScan(asked: Disturbance, seed: number): FormulaScan {
  const { jitter = 0, tilt_deg = 0, lost = [], rounding = 0, origin = [0, 0, 0], resolution_m = 0 } = asked;
  const tilt = (tilt_deg * Math.PI) / 180;
  const next = uniform(seed);
  const [xyz, times, rows, columns]: [number[], number[], number[], number[]] = [[], [], [], []];
  const misses = new Map<number, Triple>();
  const rounded = (value: number, unit: number) => (unit > 0 ? Math.round(value / unit) * unit : value);
  for (let column = 0; column < COLUMNS; column += 1) {
    for (let row = 0; row < ROWS; row += 1) {
      if (!returns(row, column, lost, next)) {
        misses.set(row + ROWS * column, direction(row, column, tilt));
        continue;
      }
      const at = direction(row + jitter * gaussian(next), column + jitter * gaussian(next), tilt);
      const range = 2 + 28 * next();
      for (const k of [0, 1, 2] as const) xyz.push(rounded(origin[k] + range * at[k], resolution_m));
      const pulses = column * (ROWS + IDLE) + row;
      times.push(START_S + PERIOD_S * rounded(pulses, rounding));
      rows.push(row);
      columns.push(column);
    }
  }
  return {
    xyz: Float64Array.from(xyz),
    times: Float64Array.from(times),
    row: Int32Array.from(rows),
    column: Int32Array.from(columns),
    misses,
    declared: {
      origin,
      right: [1, 0, 0],
      ahead: turned([0, 1, 0], tilt),
      up: turned([0, 0, 1], tilt),
      rows: ROWS,
      columns: COLUMNS,
      theta_min_rad: THETA_MIN,
      theta_max_rad: THETA_MIN + THETA_STEP * (ROWS - 1),
      phi_min_rad: 0,
      phi_max_rad: PHI_STEP * (COLUMNS - 1),
    },
    step_rad: THETA_STEP,
    pulse: (row, column) => row + ROWS * column,
  };
}

/** Rasters by what disturbs them. */
export const RASTERS: Readonly<Record<string, Disturbance>> = {
  exact: {},
  "jitter of 0.05 steps": { jitter: 0.05 },
  "jitter of 0.15 steps": { jitter: 0.15 },
  "tilted by 3 degrees": { tilt_deg: 3 },
  "12 rows and columns without returns": { lost: [40, 41, 42, 43, 90, 137, 138, 200, 250, 251, 252, 298] },
  "clock rounded to 0.3 periods": { rounding: 0.3 },
  "clock rounded to 1 period, jitter of 0.05 steps": { rounding: 1, jitter: 0.05 },
  "UTM, rounded to 1 mm": { origin: [450_000, 5_400_000, 100], resolution_m: 0.001 },
  "tilted, jitter, rows lost, rounded clock": {
    tilt_deg: 3,
    jitter: 0.1,
    rounding: 0.3,
    lost: [40, 41, 42, 43, 90, 137, 138],
  },
};
