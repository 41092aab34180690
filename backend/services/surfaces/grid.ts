import type { VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_VOXEL_CELLS, MAX_VOXEL_COLUMNS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import type { VoxelBox } from "../../native/surfaces.ts";
import { flagsColumn, numbersColumn } from "../run/points.ts";

type Counts = Pick<VoxelGrid, "nx" | "ny" | "nz">;

const counts = ({ nx, ny, nz }: VoxelGrid): Counts => ({
  nx: Math.max(1, nx),
  ny: Math.max(1, ny),
  nz: Math.max(1, nz),
});

/** Errors: invalid_argument for sizes, counts and lists that make no grid. */
export function checkGrid(grid: VoxelGrid): void {
  const { nx, ny, nz } = counts(grid);
  if (nx * ny > MAX_VOXEL_COLUMNS) {
    throw refused(`The grid has ${nx} x ${ny} columns, but the limit is ${MAX_VOXEL_COLUMNS}; use larger voxels.`);
  }
  if (nx * ny * nz > MAX_VOXEL_CELLS) {
    throw refused(`The grid has ${nx} x ${ny} x ${nz} cells, but the limit is ${MAX_VOXEL_CELLS}; use larger voxels.`);
  }
  if (!grid.size.every((extent) => extent > 0)) {
    throw refused(`grid.size is [${grid.size.join(", ")}]: every extent must be positive, in metres.`);
  }
  for (const name of ["column_offsets", "kept_columns"] as const) {
    const list = grid[name];
    if (list && list.length !== nx * ny) {
      throw refused(`grid.${name} has ${list.length} entries; a grid of ${nx} x ${ny} columns needs ${nx * ny}.`);
    }
  }
}

const refused = (message: string) => new AppError("invalid_argument", message);

/** The grid with its lists as columns, which the run owns. */
export function voxelBox(grid: VoxelGrid, job: Job): VoxelBox {
  const { center, size, rotation, column_offsets, kept_columns } = grid;
  return {
    center,
    size,
    ...counts(grid),
    rotation_deg: rotation,
    offsets: column_offsets ? job.adopt(numbersColumn(column_offsets)).native : null,
    kept: kept_columns ? job.adopt(flagsColumn(kept_columns)).native : null,
  };
}
