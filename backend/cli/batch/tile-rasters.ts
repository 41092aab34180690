import { join } from "node:path";
import { ApiError, type Client } from "../../../shared/client/index.ts";
import type { Plan, PlannedTile, Rectangle } from "./plan-document.ts";
import type { Workflow } from "./workflow.ts";

export type SurfaceName = NonNullable<Workflow["rasters"]>["surfaces"][number];
export const NODATA = -9999;

/** A rectangle of the cells that all tiles share: cell (0, 0) begins at the shift of the plan. */
export interface CellRange {
  readonly column: number;
  readonly row: number;
  readonly nx: number;
  readonly ny: number;
}

/** The cells of a rectangle whose edges lie on cells. */
export function cellRange({ shift }: Pick<Plan, "shift">, cell: number, [x0, y0, x1, y1]: Rectangle): CellRange {
  const index = (value: number, axis: 0 | 1) => Math.round((value - shift[axis]) / cell);
  const [column, row] = [index(x0, 0), index(y0, 1)];
  return { column, row, nx: index(x1, 0) - column, ny: index(y1, 1) - row };
}

/** How the cells of a tile's rasters are asked for: stored frame; the upper edge lies within the last cell. */
export function rasterRequest(plan: Plan, { view }: Pick<PlannedTile, "view">) {
  const { cell_m: cell = 1, surfaces: _, ...options } = plan.workflow.rasters as NonNullable<Workflow["rasters"]>;
  const { column, row, nx, ny } = cellRange(plan, cell, view);
  const inside = 0.5; // of the last cell: the number of cells does not depend on rounding
  const bbox = [column, row, column + nx - inside, row + ny - inside].map((cells) => cells * cell);
  return { ...options, cell_size: cell, bbox: bbox as [number, number, number, number], auto_segment_ground: false };
}

/** The values of the core from those of the view. */
export function coreValues(plan: Plan, { core, view }: PlannedTile, z: Float32Array): Float32Array {
  const cell = plan.workflow.rasters?.cell_m ?? 1;
  const [inner, outer] = [cellRange(plan, cell, core), cellRange(plan, cell, view)];
  const out = new Float32Array(inner.nx * inner.ny);
  for (let row = 0; row < inner.ny; row += 1) {
    const from = (row + inner.row - outer.row) * outer.nx + inner.column - outer.column;
    out.set(z.subarray(from, from + inner.nx), row * inner.nx);
  }
  return out;
}

/** Heights of a DTM or DSM are stored without the vertical shift, which is 0 in a plan. */
const valuesOf = (z: Float32Array): number[] => Array.from(z, (value) => (Number.isNaN(value) ? NODATA : value));

/** Makes the surfaces of a session and writes the core of each as GeoTIFF to `folder`. */
export async function makeSurfaces(
  id: string,
  plan: Plan,
  tile: PlannedTile,
  { client, folder, signal }: { readonly client: Client; readonly folder: string; readonly signal: AbortSignal },
): Promise<{ readonly made: readonly SurfaceName[]; readonly warnings: readonly string[] }> {
  const { rasters } = plan.workflow;
  if (!rasters) return { made: [], warnings: [] };
  const made: SurfaceName[] = [];
  const warnings: string[] = [];
  // The terrain comes first: it gives every point its height above the ground.
  const wanted = (["dtm", "dsm", "chm"] as const).filter((name) => name === "dtm" || rasters.surfaces.includes(name));
  for (const surface_type of wanted) {
    const wishes = { ...rasterRequest(plan, tile), surface_type, add_height_column: surface_type === "dtm" };
    const { meta, buffers } = await client.sessionDem(id, wishes, { signal });
    const z = buffers.get("grid_z");
    if (!(z instanceof Float32Array)) throw new ApiError(200, "internal", "the frame of a DEM has no grid_z", meta);
    const cells = cellRange(plan, rasters.cell_m ?? 1, tile.view);
    if (z.length !== cells.nx * cells.ny || meta.grid_nx !== cells.nx)
      throw new ApiError(200, "internal", `the DEM has ${meta.grid_nx} columns of cells, not ${cells.nx}`, meta);
    warnings.push(...(meta.warnings ?? []), ...(meta.warning ? [meta.warning] : []));
    if (!rasters.surfaces.includes(surface_type)) continue;
    const cell = rasters.cell_m ?? 1;
    const { nx, ny } = cellRange(plan, cell, tile.core);
    await client.exportRaster(
      {
        format: "tif",
        grid_z: valuesOf(coreValues(plan, tile, z)),
        nx,
        ny,
        cell_size: cell,
        origin: [tile.core[0], tile.core[1]],
        nodata: NODATA,
        crs_epsg: plan.crs_epsg,
        dest_path: join(folder, `${surface_type}.tif`),
      },
      { signal },
    );
    made.push(surface_type);
  }
  return { made, warnings };
}
