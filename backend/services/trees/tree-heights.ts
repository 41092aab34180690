import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { groundAuto } from "../../native/classify/ground.ts";
import { cloudStats } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { heightAboveGround, type RasterFrame, terrainRaster } from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type SortedTreeInput, sorted } from "./tree-input.ts";

/** Edge of a cell of the terrain below trees, metres; larger where the extent would need too many cells. */
const TERRAIN_CELL = 0.5;
/** The middle of the ground returns of a cell. */
const TERRAIN_PERCENTILE = 50;

/** The input with its ground, found where no point is labelled as such. */
export async function withGround(
  input: SortedTreeInput,
  job: Job,
): Promise<{ readonly input: SortedTreeInput; readonly warnings: readonly string[] }> {
  if (input.ground_count > 0) return { input, warnings: [] };
  const found = await job.track(() => groundAuto(input.positions, input.skip));
  const ground = job.adopt(new ColumnRef(found.ground_class)).native;
  const again = await sorted({ ...input, ground }, job);
  if (again.ground_count === 0) {
    throw new AppError(
      "invalid_argument",
      'Method "auto" needs ground below the trees, and none was found: label it first, or use another method',
    );
  }
  const warning = "No point was labelled as ground; it was found first, as segment_ground does with method auto.";
  return { input: { ...again, ground: input.ground }, warnings: [warning] };
}

/** Height of all rows above the ground, f32, metres. The run owns the column. */
export async function heightsOf({ positions, skip, not_ground }: SortedTreeInput, job: Job): Promise<NativeColumn> {
  const { bounds } = await job.track(() => cloudStats(positions, skip));
  if (!bounds || !not_ground) throw new AppError("internal", "heights without ground");
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
  const params = { frame, percentile: TERRAIN_PERCENTILE, method: "tin", gaps: "fill", at_centers: true } as const;
  const terrain = await job.track(() => terrainRaster(positions, not_ground, params, null));
  const z = job.adopt(new ColumnRef(terrain.z)).native;
  return job.adopt(new ColumnRef(await job.track(() => heightAboveGround(positions, null, frame, z)))).native;
}
