import { BulkColumn } from "../../../../../shared/contract/bulk-list.ts";
import type { VoxelGrid } from "../../../../../shared/contract/voxel-grid.ts";
import type { Job } from "../../../../jobs/job.ts";
import { copyOut, flagsColumn, numbersColumn } from "../../../run/points.ts";
import type { BundleGrid } from "./bundle-xml.ts";

/** The grids of a bundle. Lists of another length than the grid has columns are left out. */
export async function bundleGrids(grids: readonly VoxelGrid[], job: Job): Promise<BundleGrid[]> {
  const out: BundleGrid[] = [];
  for (const grid of grids) {
    const [nx, ny, nz] = [Math.max(1, grid.nx), Math.max(1, grid.ny), Math.max(1, grid.nz)];
    const offsets = grid.column_offsets ? await numbers(grid.column_offsets, job) : null;
    const kept = grid.kept_columns ? await flags(grid.kept_columns, job) : null;
    out.push({
      center: grid.center,
      size: grid.size,
      counts: [nx, ny, nz],
      rotation: grid.rotation,
      column_offsets: offsets?.length === nx * ny ? offsets : null,
      kept_columns: kept?.length === nx * ny ? kept : null,
    });
  }
  return out;
}

async function numbers(list: NonNullable<VoxelGrid["column_offsets"]>, job: Job): Promise<readonly number[]> {
  if (!(list instanceof BulkColumn)) return list;
  const column = job.adopt(numbersColumn(list)).native;
  const values = new Float64Array(column.length);
  await copyOut(column, new Uint8Array(values.buffer));
  return Array.from(values);
}

async function flags(list: NonNullable<VoxelGrid["kept_columns"]>, job: Job): Promise<readonly number[]> {
  const column = job.adopt(flagsColumn(list)).native;
  const values = new Uint8Array(column.length);
  await copyOut(column, values);
  return Array.from(values);
}
