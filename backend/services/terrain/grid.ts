import type { DemOptions, DemSuccess } from "../../../shared/contract/dem.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type * as native from "../../native/terrain.ts";

export type SurfaceType = DemSuccess["surface_type"];

/** Parsed and checked options. */
export interface DemPlan {
  readonly surface: SurfaceType;
  readonly method: native.RasterMethod;
  readonly method_used: string;
  readonly cell_size: number | null;
  readonly bbox: readonly [number, number, number, number] | null;
  readonly percentile: number;
  readonly slope_correction: boolean;
  readonly fill_voids: boolean;
  readonly segment: boolean;
}

/** Errors: invalid_argument for an unknown surface or method. */
export function demPlan(options: DemOptions): DemPlan {
  const surface = options.surface_type.toLowerCase();
  if (surface !== "dtm" && surface !== "dsm" && surface !== "chm")
    throw new AppError("invalid_argument", `Unknown surface type: "${options.surface_type}". Use dtm, dsm or chm.`);
  const asked = options.method.toLowerCase();
  const method = asked === "linear" ? "tin" : asked;
  if (method !== "tin" && method !== "nearest" && method !== "idw")
    throw new AppError("invalid_argument", `Unknown method: "${options.method}". Use tin, linear, nearest or idw.`);
  const { cell_size, ground_percentile, slope_correction, fill_voids, auto_segment_ground } = options;
  return {
    surface,
    method,
    method_used: surface === "chm" ? "dem_chm" : `dem_${asked}`,
    cell_size: cell_size !== null && cell_size > 0 ? cell_size : null,
    bbox: checkedBox(options.bbox),
    percentile: Math.min(100, Math.max(0, ground_percentile)),
    slope_correction,
    fill_voids,
    segment: auto_segment_ground,
  };
}

function checkedBox(bbox: DemOptions["bbox"]): DemPlan["bbox"] {
  if (bbox?.length !== 4) return null;
  const [x0, y0, x1, y1] = bbox as [number, number, number, number];
  if (!(x0 < x1 && y0 < y1)) {
    throw new AppError(
      "invalid_argument",
      `bbox [${bbox.join(", ")}] has no area: send [min x, min y, max x, max y] with each minimum below its maximum.`,
    );
  }
  return [x0, y0, x1, y1];
}

/** The grid over a box. Errors: invalid_argument for a box without extent and for too many cells. */
export function rasterFrame(box: readonly [number, number, number, number], asked: number | null): native.RasterFrame {
  const [min_x, min_y, max_x, max_y] = box;
  const width = max_x - min_x;
  const height = max_y - min_y;
  const extent = Math.max(width, height);
  if (!(extent > 0)) {
    throw new AppError(
      "invalid_argument",
      `The points have no horizontal extent (${width} x ${height} m): a DEM needs points at different x or y.`,
    );
  }
  const cell = asked ?? Math.min(5, Math.max(0.01, extent / 256));
  const nx = Math.max(Math.ceil(width / cell), 1);
  const ny = Math.max(Math.ceil(height / cell), 1);
  if (nx * ny > MAX_DEM_CELLS) {
    throw new AppError(
      "invalid_argument",
      `cell_size ${cell} m makes ${nx} x ${ny} = ${nx * ny} cells, but the limit is ${MAX_DEM_CELLS}; use a larger cell size.`,
    );
  }
  return { min_x, min_y, cell, nx, ny };
}
