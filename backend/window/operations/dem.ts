import { z } from "zod";
import { SessionDemRequest } from "../../../shared/contract/cloud-session/dem.ts";
import { type DemSuccess, ExportRasterRequest } from "../../../shared/contract/dem.ts";
import { strings } from "../strings.ts";
import { count, measure } from "../workflow/format.ts";
import { type CloudContext, cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.dem;
const NO_DATA = -9999;

const DemForm = SessionDemRequest.extend({
  dest_path: z.string().nullish().default(null),
  overwrite: ExportRasterRequest.shape.overwrite,
});

/** Terrain, surface or canopy heights as a raster, shown and on request written to a file. */
export const dem = cloudOperation({
  id: "dem",
  schema: DemForm,
  words,
  run: async ({ dest_path, overwrite, ...request }, context) => {
    const { client, cloud, run, clouds, view, scene } = context;
    const { meta, buffers } = await client.sessionDem(cloud.session_id, request, run);
    const heights = buffers.get("grid_z");
    if (!(heights instanceof Float32Array)) throw new Error(words.noGrid);
    if ("cache_id" in meta) await clouds.draw(cloud.session_id, meta);
    const [x, y, z] = meta.world_shift;
    const up = meta.surface_type === "chm" ? 0 : z;
    const name = words.name(meta.surface_type.toUpperCase(), cloud.name);
    const surface = view.addSurface({
      name,
      first_centre: [meta.grid_origin[0] + x + meta.grid_cell / 2, meta.grid_origin[1] + y + meta.grid_cell / 2],
      cell_m: meta.grid_cell,
      column_count: meta.grid_nx,
      row_count: meta.grid_ny,
      heights: Float64Array.from(heights, (height) => height + up),
    });
    scene.add({ kind: "surface", name }, surface);
    const warnings = [...(meta.warnings ?? [])];
    if (dest_path)
      warnings.push(...(await write(meta, heights, { dest_path, overwrite: overwrite ?? false }, context)));
    return {
      facts: [
        [words.facts.cells, `${count(meta.grid_nx)} × ${count(meta.grid_ny)}`],
        [words.facts.cell, measure(meta.grid_cell, "m", 3)],
        [words.facts.voids, count(meta.voids)],
        ...(meta.ground_source ? ([[words.facts.ground, words.grounds[meta.ground_source]]] as const) : []),
        ...(dest_path ? ([[words.facts.file, dest_path]] as const) : []),
      ],
      warnings,
    };
  },
});

/** Writes the raster; the warnings of that. */
async function write(
  meta: DemSuccess,
  heights: Float32Array,
  { dest_path, overwrite }: { readonly dest_path: string; readonly overwrite: boolean },
  { client, run }: CloudContext,
): Promise<readonly string[]> {
  const [x, y, z] = meta.world_shift;
  const up = meta.surface_type === "chm" ? 0 : z;
  const { warnings } = await client.exportRaster(
    {
      format: /\.tiff?$/i.test(dest_path) ? "tif" : "asc",
      grid_z: Array.from(heights, (height) => (Number.isNaN(height) ? NO_DATA : height + up)),
      nx: meta.grid_nx,
      ny: meta.grid_ny,
      cell_size: meta.grid_cell,
      origin: [meta.grid_origin[0] + x, meta.grid_origin[1] + y],
      nodata: NO_DATA,
      crs_epsg: meta.crs_epsg ?? null,
      dest_path,
      overwrite,
    },
    { signal: run.signal },
  );
  return warnings ?? [];
}
