import { groundProfile } from "../drawing/ground-profile.ts";
import type { PointSample } from "../drawing/point-sample.ts";
import { canopyPicture, hillshadePicture, type RasterPicture } from "../drawing/raster-picture.ts";
import type { TerrainPictures } from "../report/terrain-report.ts";
import type { Canopy, Terrain } from "./terrain.ts";

/** Draws the pictures for which there are data. */
export async function drawTerrain(
  { dtm, ground }: Terrain,
  { chm }: Canopy,
  sample: PointSample,
  longestPx: number,
): Promise<TerrainPictures> {
  const rasters = [
    dtm.done ? await hillshadePicture(dtm.grid, longestPx) : undefined,
    chm.done ? await canopyPicture(chm.grid, longestPx) : undefined,
  ].filter((picture): picture is RasterPicture => picture !== undefined);
  const profile = ground.done ? await groundProfile(sample, dtm.done ? dtm.grid : null, longestPx) : undefined;
  return { rasters, profile };
}
