import type { Workflow } from "./workflow.ts";

export const PLAN_VERSION = 2;
export const PLAN_FILE = "plan.json";

/** Lower-left and upper-right corner, metres, true world. */
export type Rectangle = readonly [min_x: number, min_y: number, max_x: number, max_y: number];

/** A file of the catalogue that a tile reads. */
export interface PlannedFile {
  /** Name of its unpacked copy. */
  readonly id: string;
  readonly path: string;
  readonly compressed: boolean;
  readonly points: number;
  readonly mem_mb: number;
  readonly minutes: number;
}

/** A tile: its core belongs to it alone, its view is the core with the buffer. */
export interface PlannedTile {
  readonly id: string;
  readonly core: Rectangle;
  readonly view: Rectangle;
  /** Indices of files. */
  readonly files: readonly number[];
  /** In the view, from the densities of the files. */
  readonly points: number;
  readonly mem_mb: number;
  readonly minutes: number;
}

/** A part of the survey in which the ground is measured for all tiles. */
export interface MeasuredWindow {
  readonly box: Rectangle;
  /** Indices of files. */
  readonly files: readonly number[];
}

/** The content of plan.json: everything that the jobs of a batch share. */
export interface Plan {
  readonly kind: "point-cloud-batch";
  readonly version: number;
  readonly name: string;
  /** The program that planned it, which also runs its jobs: results of another one are made anew. */
  readonly program: string;
  /** With all derived parameters as numbers. */
  readonly workflow: Workflow;
  /** True world = stored + shift, of every session. */
  readonly shift: readonly [number, number, number];
  readonly crs_epsg: number | null;
  /** Of all points, as the files declare it. */
  readonly extent: Rectangle;
  readonly tile_m: number;
  readonly buffer_m: number;
  /** What the buffer is made of, metres. */
  readonly buffers: Readonly<Record<string, number>>;
  /** Names of the parameters that were derived from the catalogue. */
  readonly derived: readonly string[];
  readonly warnings: readonly string[];
  readonly files: readonly PlannedFile[];
  /** Empty without the step ground. */
  readonly windows: readonly MeasuredWindow[];
  readonly tiles: readonly PlannedTile[];
}
