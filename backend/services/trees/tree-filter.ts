import {
  CHM_CELL_LIMITS,
  CHM_CELLS_PER_SCALE,
  DEFAULT_CHM,
  TREE_METHODS,
  type TreeFilter,
  type TreeMethod,
} from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import * as native from "../../native/trees.ts";

/** A canopy height model; `cell` null = derived. */
export interface CheckedChm {
  readonly method: "chm";
  readonly cell: number | null;
  readonly min_height: number;
  readonly crown_scale: number;
}

/** A method with valid parameters. */
export type CheckedTrees = CheckedChm;

const refused = (message: string) => new AppError("invalid_argument", message);

/** Errors: invalid_argument, naming the value and its rule. */
export function checkTrees(filter: TreeFilter): CheckedTrees {
  const method = methodOf(filter.method);
  const min_height = filter.chm_min_height ?? DEFAULT_CHM.chm_min_height;
  if (!(min_height >= 0)) throw refused(`chm_min_height must be a number from 0, not ${min_height}`);
  const crown_scale = filter.chm_crown_scale ?? DEFAULT_CHM.chm_crown_scale;
  const cell = filter.chm_cell ?? null;
  for (const [name, value] of [
    ["chm_crown_scale", crown_scale],
    ["chm_cell", cell],
  ] as const)
    if (value !== null && !(value > 0)) throw refused(`${name} must be a number above 0, not ${value}`);
  return { method, cell, min_height, crown_scale };
}

function methodOf(wanted: string): TreeMethod {
  const method = TREE_METHODS.find((name) => name === wanted);
  if (!method) throw refused(`method "${wanted.slice(0, 60)}" is none of ${TREE_METHODS.join(", ")}`);
  return method;
}

/** A canopy height model with its cell. */
export interface ChmPlan {
  readonly params: native.CanopyCrownsParams;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/**
 * The cell, unless given: a share of the crown scale; coarser where the extent would need too many cells.
 * Errors: invalid_argument for an extent that needs too many cells.
 */
export function chmPlan(filter: CheckedChm, points: number, extent: readonly [number, number]): ChmPlan {
  const { cell, crown_scale } = filter;
  const [finest, coarsest] = CHM_CELL_LIMITS;
  const wanted = cell ?? Math.min(coarsest, Math.max(finest, crown_scale / CHM_CELLS_PER_SCALE));
  const cost = native.canopyCrownsCost(points, extent, wanted);
  const params = (cell_m: number) => ({ cell_m, min_height_m: filter.min_height, crown_scale_m: crown_scale });
  if (cost.admissible) return { params: params(wanted), bytes: cost.bytes, warnings: [] };
  const fits = Math.ceil(cost.finest_cell_m * 1000) / 1000;
  const size = `${extent[0].toFixed(1)} x ${extent[1].toFixed(1)} m`;
  if (cell !== null || !(fits <= coarsest)) {
    const why =
      cell === null ? `the points extend over ${size}` : `chm_cell ${cell} m makes too many cells for ${size}`;
    throw refused(`${why}; ${fits} m is the finest chm_cell that fits. Remove stray points (denoise) or take parts.`);
  }
  const warning = `The canopy height model has cells of ${fits} m instead of ${wanted.toFixed(3)} m, because the points extend over ${size}.`;
  return { params: params(fits), bytes: native.canopyCrownsCost(points, extent, fits).bytes, warnings: [warning] };
}
