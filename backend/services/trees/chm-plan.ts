import { CHM_CELL_LIMITS, CHM_CELLS_PER_SCALE, chmCell } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import * as native from "../../native/trees.ts";
import type { CheckedChm } from "./tree-filter.ts";
import type { SortedTreeInput } from "./tree-input.ts";

/** A canopy height model with its cell. */
export interface ChmPlan {
  readonly params: native.CanopyCrownsParams;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

/**
 * The cell, unless given: that of the crown scale and the points; coarser where the extent would need too many cells.
 * Errors: invalid_argument for an extent that needs too many cells.
 */
export function chmPlan(
  filter: CheckedChm,
  { vegetation_count, extent, spacing_m }: Pick<SortedTreeInput, "vegetation_count" | "extent" | "spacing_m">,
): ChmPlan {
  const { cell, crown_scale } = filter;
  const coarsest = CHM_CELL_LIMITS[1];
  const wanted = cell ?? chmCell(crown_scale, spacing_m);
  const cost = native.canopyCrownsCost(vegetation_count, extent, wanted);
  const params = (cell_m: number) => ({ cell_m, min_height_m: filter.min_height, crown_scale_m: crown_scale });
  const sparse = cell === null ? sparseWarnings(crown_scale, wanted, spacing_m) : [];
  if (cost.admissible) return { params: params(wanted), bytes: cost.bytes, warnings: sparse };
  const fits = Math.ceil(cost.finest_cell_m * 1000) / 1000;
  const size = `${extent[0].toFixed(1)} x ${extent[1].toFixed(1)} m`;
  if (cell !== null || !(fits <= coarsest)) {
    const why =
      cell === null ? `the points extend over ${size}` : `chm_cell ${cell} m makes too many cells for ${size}`;
    throw new AppError(
      "invalid_argument",
      `${why}; ${fits} m is the finest chm_cell that fits. Remove stray points (denoise), take parts, or, if the coordinates are not metres, import with source_units.`,
    );
  }
  const warning = `The canopy height model has cells of ${fits} m instead of ${wanted.toFixed(3)} m, because the points extend over ${size}.`;
  return {
    params: params(fits),
    bytes: native.canopyCrownsCost(vegetation_count, extent, fits).bytes,
    warnings: [warning],
  };
}

/** A cell that is so many times as wide as that of the crown scale is told. */
const TOLD_WIDER = 1.5;
/** Crowns beside each other are told apart if both and the gap have a cell of their own. */
const CELLS_APART = 3;

function sparseWarnings(scale: number, cell_m: number, spacing_m: number): string[] {
  const asked = scale / CHM_CELLS_PER_SCALE;
  if (!(cell_m > TOLD_WIDER * asked)) return [];
  return [
    `The canopy height model has cells of ${cell_m.toFixed(2)} m instead of ${asked.toFixed(2)} m (chm_crown_scale / ${CHM_CELLS_PER_SCALE}), because the points are ${spacing_m.toFixed(2)} m apart, seen from above: crowns less than about ${(CELLS_APART * cell_m).toFixed(1)} m apart may be one tree.`,
  ];
}
