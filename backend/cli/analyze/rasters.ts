import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { SurfaceGrid } from "../drawing/surface-grid.ts";
import type { Run } from "./run.ts";
import type { Canopy, Terrain } from "./terrain.ts";

const NODATA = -9999;
const FORMATS = ["tif", "asc"] as const;

/** Writes terrain, surface and canopy as GeoTIFF and ESRI ASCII grid, in true world coordinates. Returns the names. */
export async function writeRasters(
  { client, out, progress, signal }: Run,
  tail: Pick<CreateSessionTail, "world_shift" | "crs_epsg">,
  { dtm }: Pick<Terrain, "dtm">,
  { dsm, chm }: Pick<Canopy, "dsm" | "chm">,
): Promise<string[]> {
  const shift = tail.world_shift ?? [0, 0, 0];
  const rasters = [
    { name: "dtm", made: dtm, lift: shift[2] },
    { name: "dsm", made: dsm, lift: shift[2] },
    { name: "chm", made: chm, lift: 0 },
  ];
  const names: string[] = [];
  for (const { name, made, lift } of rasters) {
    if (!made.done) continue;
    if (names.length === 0) progress.stage("Writing the rasters");
    const { nx, ny, cell, origin, z } = made.grid;
    for (const format of FORMATS) {
      const request = {
        format,
        grid_z: heights(z, lift),
        nx,
        ny,
        cell_size: cell,
        origin: [origin[0] + shift[0], origin[1] + shift[1]] as [number, number],
        nodata: NODATA,
        crs_epsg: tail.crs_epsg ?? null,
        dest_path: out.stage(`${name}.${format}`),
      };
      await client.exportRaster(request, { signal });
      names.push(`${name}.${format}`);
    }
  }
  return names;
}

const heights = (z: SurfaceGrid["z"], lift: number): number[] =>
  Array.from(z, (value) => (Number.isNaN(value) ? NODATA : value + lift));
