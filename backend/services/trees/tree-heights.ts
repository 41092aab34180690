import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { groundAuto } from "../../native/classify/ground.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { heightAboveGround, type RasterFrame, terrainRaster, terrainRasterBytes } from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { groundCost } from "../classify/ground-cost.ts";
import { imagesBelowTrees } from "../classify/mirror-images.ts";
import type { CostEstimate } from "../run/cost-warning.ts";
import { type SortedTreeInput, sorted, type TreeInput } from "./tree-input.ts";

/** Edge of a cell of the terrain below trees, metres; larger where the extent would need too many cells. */
const TERRAIN_CELL = 0.5;
/** The middle of the ground returns of a cell. */
const TERRAIN_PERCENTILE = 50;

/** Time and memory of groundFound, for points of which none is labelled as ground. */
export const groundFindingCost = ({ vegetation_count, extent }: SortedTreeInput): CostEstimate =>
  groundCost({ method: "auto", frame: null, skip_images: true }, null, {
    finite_count: vegetation_count,
    extent,
    measures: null,
  });

/** The input with its ground, which no label names, and warnings. Errors: invalid_argument if there is none. */
export async function groundFound(
  input: SortedTreeInput,
  job: Job,
): Promise<{ readonly input: SortedTreeInput; readonly warnings: readonly string[] }> {
  const { skip, warnings } = await imagesBelowTrees(input, job);
  const found = await job.track(() => groundAuto(input.positions, skip));
  const ground = job.adopt(new ColumnRef(found.ground_class)).native;
  const again = await sorted({ ...input, ground }, job);
  if (again.ground_count === 0) {
    throw new AppError(
      "invalid_argument",
      'Method "auto" needs ground below the trees, and none was found: label it first, or use another method',
    );
  }
  return { input: { ...again, ground: input.ground }, warnings };
}

/** Cells of the terrain below trees. */
export interface TerrainPlan {
  readonly frame: RasterFrame;
  /** A sentence if the extent needs coarser cells. */
  readonly warnings: readonly string[];
}

export async function terrainPlan({ positions, skip }: TreeInput, job: Job): Promise<TerrainPlan> {
  const { bounds } = await job.track(() => cloudStats(positions, skip));
  if (!bounds) throw new AppError("internal", "a terrain without points");
  const [wide, high] = [bounds.max[0] - bounds.min[0], bounds.max[1] - bounds.min[1]];
  const cells = (cell: number) => (Math.floor(wide / cell) + 1) * (Math.floor(high / cell) + 1);
  let cell = TERRAIN_CELL;
  while (cells(cell) > MAX_DEM_CELLS) cell *= 1.25;
  const frame: RasterFrame = {
    min_x: bounds.min[0],
    min_y: bounds.min[1],
    cell,
    nx: Math.floor(wide / cell) + 1,
    ny: Math.floor(high / cell) + 1,
  };
  const size = `${wide.toFixed(1)} x ${high.toFixed(1)} m`;
  const warning = `The terrain below the trees has cells of ${cell.toPrecision(3)} m instead of ${TERRAIN_CELL} m, because the points extend over ${size}. Remove stray points (denoise) or take parts.`;
  return { frame, warnings: cell > TERRAIN_CELL ? [warning] : [] };
}

/** Upper estimate of the memory of heightsOf without its result. */
export const terrainBytes = (ground_count: number, { frame: { nx, ny } }: TerrainPlan): number =>
  terrainRasterBytes(ground_count, nx * ny) + 8 * nx * ny;

/** Height of all rows above the ground, f32, metres. The run owns the column. */
export async function heightsOf(input: SortedTreeInput, { frame }: TerrainPlan, job: Job): Promise<NativeColumn> {
  const { positions, not_ground } = input;
  if (!not_ground) throw new AppError("internal", "heights without ground");
  const params = { frame, percentile: TERRAIN_PERCENTILE, method: "tin", gaps: "fill", at_centers: true } as const;
  const terrain = await job.track(() => terrainRaster(positions, not_ground, params, null));
  const z = job.adopt(new ColumnRef(terrain.z));
  const heights = await job.track(() => heightAboveGround(positions, null, frame, z.native));
  job.releaseEarly(z);
  return job.adopt(new ColumnRef(heights)).native;
}
