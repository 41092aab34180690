import { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { SnapGridRequest, SnapGridResponse } from "../../../shared/contract/lad.ts";
import type { Terrain, VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS, MAX_VOXEL_COLUMNS } from "../../../shared/limits.ts";
import { FlagBytes } from "../../../shared/wire/json-values.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { voidCells } from "../../native/lists.ts";
import { columnSnap } from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { copyOut, numbersColumn } from "../run/points.ts";

/** The answer, with its lists as bytes. */
type SnappedGrid = Omit<SnapGridResponse, "column_offsets" | "kept_columns"> & {
  readonly column_offsets: Float64Array;
  readonly kept_columns: FlagBytes;
};

/** Bytes per terrain cell and per column: heights, those without voids, nearest cells; offsets and flags, twice. */
const CELL_BYTES = 8 + 8 + 8 + 13;
const COLUMN_BYTES = 2 * 9;

/** Lifts the columns of a voxel grid to the terrain. Problems are reported in `error` (contract lad 2). */
export function snapGrid(
  request: SnapGridRequest,
  { admission }: Pick<Deps, "admission">,
  job: Job,
): Promise<SnappedGrid> {
  const { nx, ny } = request.grid;
  const columns = Math.min(MAX_VOXEL_COLUMNS, Math.max(1, nx) * Math.max(1, ny));
  const cells = Math.min(MAX_DEM_CELLS, Math.max(1, request.dem.nx) * Math.max(1, request.dem.ny));
  const bytes = CELL_BYTES * cells + COLUMN_BYTES * columns;
  return admission.run(job, "Snap grid", bytes, () => snapped(request, job));
}

async function snapped(request: SnapGridRequest, job: Job): Promise<SnappedGrid> {
  const { dem, safety_fraction } = request;
  const grid = atLeastOneCell(request.grid);
  try {
    checkGrid(grid, safety_fraction);
    const terrain = await terrainColumn(dem, job);
    const { center, size, nx, ny, nz, rotation } = grid;
    const columns = { center, size, nx, ny, rotation_deg: rotation, voxel_height: size[2] / nz, safety_fraction };
    const frame = { min_x: dem.origin[0], min_y: dem.origin[1], cell: dem.cell, nx: dem.nx, ny: dem.ny };
    const found = await job.track(() => columnSnap(columns, frame, terrain));
    const offsets = new Float64Array(nx * ny);
    const kept = new Uint8Array(nx * ny);
    await copyOut(job.adopt(new ColumnRef(found.offsets)).native, new Uint8Array(offsets.buffer));
    await copyOut(job.adopt(new ColumnRef(found.kept)).native, kept);
    if (found.dropped_count === kept.length) throw beside(grid, dem);
    return {
      success: true,
      column_offsets: offsets,
      kept_columns: new FlagBytes(kept),
      dropped_columns: found.dropped_count,
      error: null,
    };
  } catch (raw) {
    const { code, message } = fromNative(raw);
    if (code !== "invalid_argument") throw raw;
    return {
      success: false,
      column_offsets: new Float64Array(),
      kept_columns: new FlagBytes(new Uint8Array()),
      dropped_columns: 0,
      error: message,
      code,
    };
  }
}

const atLeastOneCell = (grid: VoxelGrid): VoxelGrid => ({
  ...grid,
  nx: Math.max(1, grid.nx),
  ny: Math.max(1, grid.ny),
  nz: Math.max(1, grid.nz),
});

const refused = (message: string) => new AppError("invalid_argument", message);

function checkGrid({ nx, ny, size }: VoxelGrid, safety: number): void {
  if (nx * ny > MAX_VOXEL_COLUMNS) {
    throw refused(
      `The grid has ${nx} x ${ny} = ${nx * ny} columns, but the limit is ${MAX_VOXEL_COLUMNS}; use larger voxels.`,
    );
  }
  if (!size.every((extent) => extent > 0)) {
    throw refused(`grid.size is [${size.join(", ")}]: every extent must be positive, in metres.`);
  }
  if (!(safety >= 0)) throw refused(`safety_fraction is ${safety}: it must not be negative.`);
}

/** Heights as a native column, voids NaN; the run owns it. */
async function terrainColumn({ grid_z, nx, ny, cell, nodata }: Terrain, job: Job): Promise<NativeColumn> {
  if (!(cell > 0)) throw refused(`dem.cell is ${cell}: the cell of a terrain must be positive, in metres.`);
  if (!(nx > 0 && ny > 0)) throw refused(`dem.nx x dem.ny is ${nx} x ${ny}: a terrain has at least one cell.`);
  if (nx * ny > MAX_DEM_CELLS) {
    throw refused(
      `The terrain has ${nx} x ${ny} = ${nx * ny} cells, but the limit is ${MAX_DEM_CELLS}; use larger cells.`,
    );
  }
  const values = job.adopt(numbersColumn(grid_z instanceof BulkColumn ? grid_z : grid_z.flat())).native;
  if (values.length !== nx * ny) {
    throw refused(`dem.grid_z length must equal nx*ny. It has ${values.length} values for ${nx} x ${ny} cells.`);
  }
  const { heights, height_count } = await job.track(() => voidCells(values, nodata ?? null));
  const terrain = job.adopt(new ColumnRef(heights)).native;
  if (height_count === 0) throw refused("Every cell of the terrain is void: there is no ground to snap to.");
  return terrain;
}

function beside({ center, nx, ny }: VoxelGrid, { origin, cell, nx: columns, ny: rows }: Terrain): AppError {
  const [x, y] = origin;
  return refused(
    `All ${nx * ny} columns of the grid lie outside the terrain: its centre is [${center[0]}, ${center[1]}], the terrain covers x ${x} to ${x + columns * cell} and y ${y} to ${y + rows * cell}. Are both in the same frame?`,
  );
}
