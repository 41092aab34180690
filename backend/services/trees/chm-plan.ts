import { CHM_CELL_LIMITS, chmCell } from "../../../shared/contract/segment-trees.ts";
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
  if (cost.admissible) return { params: params(wanted), bytes: cost.bytes, warnings: [] };
  const fits = Math.ceil(cost.finest_cell_m * 1000) / 1000;
  const size = `${extent[0].toFixed(1)} x ${extent[1].toFixed(1)} m`;
  if (cell !== null || !(fits <= coarsest)) {
    const why =
      cell === null ? `the points extend over ${size}` : `chm_cell ${cell} m makes too many cells for ${size}`;
    throw new AppError(
      "invalid_argument",
      `${why}; ${fits} m is the finest chm_cell that fits. Remove stray points (denoise) or take parts.`,
    );
  }
  const warning = `The canopy height model has cells of ${fits} m instead of ${wanted.toFixed(3)} m, because the points extend over ${size}.`;
  return {
    params: params(fits),
    bytes: native.canopyCrownsCost(vegetation_count, extent, fits).bytes,
    warnings: [warning],
  };
}
