import { AppError } from "../../../shared/errors.ts";
import { MAX_DEM_CELLS } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/terrain.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { DemCloud } from "./dem-cloud.ts";
import type { DemPlan } from "./grid.ts";
import { boundsOf } from "./ground-rows.ts";
import { type DemSurface, ofGround } from "./surface.ts";

/**
 * Height of every row above the DTM without voids, metres; 0 for rows that are not hits. Hits outside the box are above
 * the ground there; those that were left out as noise are above the nearest edge of the grid. `option`: the field of the
 * request, for messages. The run owns the column. Errors: invalid_argument if the hits lie too far outside the box.
 */
export async function heights(
  cloud: DemCloud,
  { frame: boxed, ground_skip }: DemSurface,
  plan: DemPlan,
  option: string,
  job: Job,
): Promise<ColumnRef> {
  const { positions, hits } = cloud;
  const frame = plan.bbox ? await aroundHits(boxed, cloud, option, job) : boxed;
  const params = { ...ofGround(plan), frame, method: "tin", gaps: "fill" } as const;
  const raster = await job.track(() => native.terrainRaster(positions, ground_skip, params, null));
  const terrain = job.adopt(new ColumnRef(raster.z)).native;
  const column = await job.track(() => native.heightAboveGround(positions, hits.skip, frame, terrain));
  return job.adopt(new ColumnRef(column));
}

/** The grid with as many more of its cells on each side as the hits need. */
async function aroundHits(
  frame: native.RasterFrame,
  cloud: DemCloud,
  option: string,
  job: Job,
): Promise<native.RasterFrame> {
  const bounds = await boundsOf(cloud, cloud.skip, job);
  if (!bounds) return frame;
  const { min_x, min_y, cell } = frame;
  const cells = (distance: number) => Math.max(0, Math.ceil(distance / cell));
  const [west, south] = [cells(min_x - bounds.min[0]), cells(min_y - bounds.min[1])];
  const nx = west + frame.nx + cells(bounds.max[0] - (min_x + frame.nx * cell));
  const ny = south + frame.ny + cells(bounds.max[1] - (min_y + frame.ny * cell));
  if (nx * ny > MAX_DEM_CELLS) {
    throw new AppError(
      "invalid_argument",
      `Points lie outside bbox, and their heights need the terrain below them: ${nx} x ${ny} = ${nx * ny} cells of ${cell} m, but the limit is ${MAX_DEM_CELLS}. Use a larger cell size, leave out ${option}, or label strays as noise first (denoise).`,
    );
  }
  return { min_x: min_x - west * cell, min_y: min_y - south * cell, cell, nx, ny };
}
