import { DemRequest, ExportRasterRequest, ExportRasterResponse } from "../../shared/contract/dem.ts";
import type { Deps } from "../deps.ts";
import { runJson } from "../http/run-json.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";
import { checkDemRequest, flatDem } from "../services/terrain/dem.ts";
import { checkRasterExport, exportRaster } from "../services/terrain/raster-export.ts";

const tags = ["DEM"];

export function demRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/dem",
    {
      schema: { summary: "Terrain, surface or canopy height of a flat cloud as a PHB1 frame", tags, body: DemRequest },
    },
    async ({ body, unknownKeys }, reply) => {
      await checkDemRequest(body, deps); // 400 and 404 here, before the stream opens
      return streamFrameJob(reply, deps.jobs, (job) => flatDem(body, unknownKeys, deps, job));
    },
  );
  app.post(
    "/api/dem/export-raster",
    {
      schema: {
        summary: "Encode a grid as ESRI ASCII grid or GeoTIFF",
        tags,
        body: ExportRasterRequest,
        response: { 200: ExportRasterResponse },
      },
    },
    async ({ body, unknownKeys }, reply) => {
      const raster = await checkRasterExport(body);
      return runJson(reply, deps.jobs, async (job) => withUnknownKeys(await exportRaster(raster, job), unknownKeys));
    },
  );
}
