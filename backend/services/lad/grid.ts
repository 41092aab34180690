import { BulkColumn } from "../../../shared/contract/bulk-list.ts";
import type { LadRequest } from "../../../shared/contract/lad-compute.ts";
import type { VoxelGrid } from "../../../shared/contract/voxel-grid.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_LAD_VOXELS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { OpOptions } from "../../native/cloud/cloud.ts";
import type { VoxelBox } from "../../native/surfaces.ts";
import { opDevice } from "../run/device.ts";
import { copyOut } from "../run/points.ts";
import { checkGrid, voxelBox } from "../surfaces/grid.ts";
import { snapGrid } from "../terrain/snap-grid.ts";

type Triple = readonly [number, number, number];
export type Counts = readonly [number, number, number];

/** Where beams are traced, and why they were traced elsewhere. */
export interface TraceDevice {
  readonly options: OpOptions;
  readonly told: Set<string>;
}

/** A grid whose columns are in place. */
export interface LadGrid {
  /** For native ops; the run owns its columns. */
  readonly box: VoxelBox;
  readonly cells: number;
  /** Edges of a voxel, metres. */
  readonly edges: Triple;
  /** (nx * ny) metres; null = a level floor. */
  readonly offsets: Float64Array | null;
  /** (nx * ny) 0 = dropped; null = all are kept. */
  readonly kept: Uint8Array | null;
  readonly dropped_columns: number;
  readonly device: TraceDevice;
}

const refused = (message: string) => new AppError("invalid_argument", message);
const countsOf = ({ nx, ny, nz }: VoxelGrid): Counts => [Math.max(1, nx), Math.max(1, ny), Math.max(1, nz)];

/** The largest counts of one shape, at most the given ones, whose product is at most `most`. */
export function finestCounts(counts: Counts, most: number): Counts {
  const product = (of: Counts) => of[0] * of[1] * of[2];
  const scaled = (factor: number): Counts => {
    const [x, y, z] = counts.map((count) => Math.max(1, Math.floor(count * factor)));
    return [x ?? 1, y ?? 1, z ?? 1];
  };
  let [fits, fails] = [0, 1];
  if (product(counts) <= most) return counts;
  for (let round = 0; round < 60; round += 1) {
    const middle = (fits + fails) / 2;
    if (product(scaled(middle)) <= most) fits = middle;
    else fails = middle;
  }
  return scaled(fits);
}

/** Errors: invalid_argument for sizes, counts and lists that make no grid, and a terrain to follow that is missing. */
export function checkLadGrid({ grid, terrain_follow, dem }: LadRequest): void {
  const counts = countsOf(grid);
  const cells = counts[0] * counts[1] * counts[2];
  if (cells > MAX_LAD_VOXELS) {
    const [x, y, z] = finestCounts(counts, MAX_LAD_VOXELS);
    throw refused(
      `The grid has ${counts.join(" x ")} = ${cells} voxels (limit ${MAX_LAD_VOXELS}); ${x} x ${y} x ${z} is the finest that fits.`,
    );
  }
  checkGrid(grid);
  if (terrain_follow && !dem && !grid.column_offsets) {
    throw refused("terrain_follow needs dem, the terrain to follow, or grid.column_offsets.");
  }
}

/** The grid with its columns raised and dropped. Errors: invalid_argument if it lies outside the terrain. */
export async function resolveGrid(
  request: LadRequest,
  deps: Pick<Deps, "admission" | "deviceInfo">,
  job: Job,
): Promise<LadGrid> {
  const { grid, terrain_follow, dem, safety_fraction } = request;
  const placed = terrain_follow && dem && !grid.column_offsets ? await snapped(request, deps, job) : grid;
  const box = voxelBox(placed, job);
  const columns = box.nx * box.ny;
  const offsets = box.offsets ? new Float64Array(columns) : null;
  if (offsets && box.offsets) await copyOut(box.offsets, new Uint8Array(offsets.buffer));
  const kept = box.kept ? new Uint8Array(columns) : null;
  if (kept && box.kept) await copyOut(box.kept, kept);
  const dropped_columns = kept ? kept.reduce((sum, flag) => sum + (flag === 0 ? 1 : 0), 0) : 0;
  if (dropped_columns === columns) throw refused(`All ${columns} columns of the grid are dropped: no voxel is left.`);
  const [sx, sy, sz] = grid.size;
  return {
    box,
    cells: columns * box.nz,
    edges: [sx / box.nx, sy / box.ny, sz / box.nz],
    offsets,
    kept,
    dropped_columns,
    device: { options: await opDevice(deps), told: new Set() },
  };

  async function snapped({ grid: flat }: LadRequest, admitting: Pick<Deps, "admission">, run: Job): Promise<VoxelGrid> {
    if (!dem) throw refused("terrain_follow needs dem");
    const found = await snapGrid({ grid: flat, dem, safety_fraction }, admitting, run);
    if (!found.success) throw refused(found.error ?? "The grid cannot follow the terrain.");
    const kept_columns = Array.from(found.kept_columns.bytes, (flag) => flag !== 0);
    return { ...flat, column_offsets: Array.from(found.column_offsets), kept_columns };
  }
}

/** What beams are traced through. */
export type TraceGrid = Pick<LadGrid, "box" | "device">;

/** Edge of a cube of the volume of a voxel, metres. */
export const edgeOf = ({ edges }: LadGrid): number => Math.cbrt(edges[0] * edges[1] * edges[2]);

/** Largest share of a leaf in a voxel for which an interval of 95 % holds (Pimont et al. 2018). */
const LARGEST_ELEMENT = 0.05;

/** Whether leaves of a width are too large for voxels of an edge. */
export const areLarge = (width: number, edge: number): boolean =>
  width > 0 && (Math.PI * width * width) / (8 * edge * edge) > LARGEST_ELEMENT;

/** Whether the columns of a grid are raised. */
export const isRaised = ({ offsets }: LadGrid): boolean => offsets !== null;

/** Length of a list that may be in native memory. */
export const lengthOf = (list: BulkColumn | readonly unknown[] | null | undefined): number =>
  list instanceof BulkColumn || list ? list.length : 0;
