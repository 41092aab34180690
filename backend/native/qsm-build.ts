import type { OpOptions } from "./cloud/cloud.ts";
import type { NativeColumn, NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";
import type { QsmTables } from "./qsm.ts";

const addon = addonAs<QsmBuildNative>();

export interface QsmBuildParams {
  readonly twig_radius_mm: number;
  readonly axis_termination: boolean;
  readonly fork_symmetry: number;
  readonly w_growthlength: number;
  readonly w_area: number;
  readonly w_colinear: number;
  readonly radius_model: "isotonic" | "tapered";
}

/** Low and high end of a 95 % interval, m3; null where the radii are guesses. */
type Interval = readonly [number, number] | null;

export interface BuiltQsm {
  /** Released by the caller; without cylinders if no tree was found. */
  readonly qsm: QsmTables;
  readonly total_volume_ci95_m3: Interval;
  readonly stem_volume_ci95_m3: Interval;
  readonly branch_volume_ci95_m3: Interval;
  /** Finite points. */
  readonly points_used: number;
  /** Of them, connected with the base. */
  readonly reached: number;
  /** Nodes of the skeleton. */
  readonly nodes: number;
  readonly warnings: readonly string[];
}

/** Functions of the addon that build a QSM. */
export interface QsmBuildNative {
  buildQsm(
    positions: NativeColumn,
    skip: NativeColumn | null,
    params: QsmBuildParams,
    options?: OpOptions,
  ): NativeJob<BuiltQsm>;
  buildQsmCost(points: number): number;
}

/**
 * Reconstructs one leafless tree from the finite hits of a cloud (`skip`: u8 per row, 0 = use).
 * Phases: "Extracting skeleton", "Segmenting shoots", "Fitting cylinders", "Correcting radii", "Resolving shoot ranks".
 */
export const buildQsm = addon.buildQsm;
/** Peak memory of buildQsm for so many points, bytes. */
export const buildQsmCost = addon.buildQsmCost;
