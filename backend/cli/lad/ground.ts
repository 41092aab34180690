import { ApiError } from "../../../shared/client/index.ts";
import type { LadSuccess } from "../../../shared/contract/lad-compute.ts";
import type { Terrain } from "../../../shared/contract/voxel-grid.ts";
import { type FolderRun, shown } from "../run/folder-run.ts";
import type { LadSession } from "./misses.ts";

/** Cells of the terrain along the longer side, at most. */
const MOST_CELLS = 1000;
/** Cells of the terrain for the edge of a voxel. */
const CELLS_PER_VOXEL = 2;
/** Part of the columns with hits below which nothing is seen, from where on they stand on the ground. */
const LEAST_SHARE = 0.1;

/** Heights of the ground in the cells of a raster, true world; NaN = unknown. */
export interface GroundRaster extends Pick<Terrain, "nx" | "ny" | "cell" | "origin"> {
  readonly z: Float32Array;
  /** Added to them, metres: float32 keeps heights near 0 only. */
  readonly lift: number;
}

/** Whether the voxels of a level grid hold the ground. */
export const holdsGround = ({ opaque_floor }: LadSuccess): boolean => opaque_floor.column_share >= LEAST_SHARE;

/** The ground below all scans; a sentence if the service finds none. The sessions stay as they are. */
export async function groundBelow(
  sessions: readonly LadSession[],
  { grid_size, nx }: LadSuccess,
  run: FolderRun,
): Promise<GroundRaster | string> {
  const [first] = sessions;
  if (!first) return "There is no scan.";
  const merged =
    sessions.length > 1
      ? await run.client.merge({ session_ids: sessions.map(({ session_id }) => session_id) }, shown(run))
      : null;
  const id = merged?.merged.session_id ?? first.session_id;
  const shift = merged ? merged.merged.world_shift : first.world_shift;
  const [dx, dy, dz] = shift ?? [0, 0, 0];
  const edge = grid_size[0] / nx;
  const cell_size = Math.max(edge / CELLS_PER_VOXEL, Math.max(grid_size[0], grid_size[1]) / MOST_CELLS);
  try {
    const wishes = { surface_type: "dtm" as const, cell_size, fill_voids: true };
    const { meta, buffers } = await run.client.sessionDem(id, wishes, shown(run));
    const z = buffers.get("grid_z");
    if (!(z instanceof Float32Array)) throw new ApiError(200, "internal", "the frame of a DEM has no grid_z", meta);
    const [x, y] = meta.grid_origin;
    return { nx: meta.grid_nx, ny: meta.grid_ny, cell: meta.grid_cell, origin: [x + dx, y + dy], z, lift: dz };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "invalid_argument")) throw error;
    return `The columns are level, as no terrain was found: ${error.message}`;
  } finally {
    if (merged) await run.client.closeSession(id).catch(() => undefined);
  }
}

/** The ground as lad/compute takes it. */
export const terrainOf = ({ z, lift, nx, ny, cell, origin }: GroundRaster): Terrain => ({
  grid_z: Array.from(z, (height) => (Number.isFinite(height) ? height + lift : null)),
  nx,
  ny,
  cell,
  origin,
  nodata: null,
});

/** The same columns from the ground up to the highest hit above it: their floor is at height 0. */
export function raisedGrid(level: LadSuccess, ground: GroundRaster) {
  const { grid_center, grid_size, nx, ny, nz } = level;
  const edge = grid_size[2] / nz;
  let top = edge;
  for (const { hit_count, center } of level.cells) {
    if (hit_count === 0) continue;
    const height = heightAt(ground, center[0], center[1]);
    if (height !== null) top = Math.max(top, center[2] + edge / 2 - height);
  }
  const layers = Math.ceil(top / edge - 1e-9);
  const center: [number, number, number] = [grid_center[0], grid_center[1], (layers * edge) / 2];
  const size: [number, number, number] = [grid_size[0], grid_size[1], layers * edge];
  return { center, size, nx, ny, nz: layers };
}

function heightAt({ z, lift, nx, ny, cell, origin }: GroundRaster, x: number, y: number): number | null {
  const [i, j] = [Math.floor((x - origin[0]) / cell), Math.floor((y - origin[1]) / cell)];
  if (i < 0 || j < 0 || i >= nx || j >= ny) return null;
  const height = z[j * nx + i] ?? Number.NaN;
  return Number.isFinite(height) ? height + lift : null;
}
