import { DemFrame, DemRequest, ExportRasterRequest, ExportRasterResponse } from "../../shared/contract/dem.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { FILE_EXISTS, NO_SESSION, NO_SPACE, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";
import { checkDemRequest, flatDem } from "../services/terrain/dem.ts";
import { checkRasterExport, exportRaster } from "../services/terrain/raster-export.ts";

const tags = ["terrain"];

const NO_POINTS: ProblemExample = { code: "invalid_argument", detail: "Send points or a source descriptor." };
const UNKNOWN_FORMAT: ProblemExample = {
  code: "invalid_argument",
  detail: 'Unknown raster format "png": use asc or tif.',
};

export function demRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/dem",
    {
      schema: {
        operationId: "dem",
        summary: "Compute a terrain, surface or canopy height model from points, as a PHB1 frame",
        tags,
        body: DemRequest,
      },
      config: { lists: true, frame: DemFrame, problems: [NO_SESSION, NO_POINTS] },
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
        operationId: "exportRaster",
        summary: "Export a grid as ESRI ASCII grid or GeoTIFF",
        tags,
        body: ExportRasterRequest,
        response: { 200: ExportRasterResponse },
      },
      config: { lists: true, problems: [UNKNOWN_FORMAT, FILE_EXISTS, NO_SPACE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const raster = await checkRasterExport(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => exportRaster(raster, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
}
