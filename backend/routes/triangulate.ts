import { TriangulateFrame, TriangulateRequest } from "../../shared/contract/triangulate.ts";
import {
  ScanTriangulationFrame,
  ScanTriangulationRequest,
  SpacingVerdict,
} from "../../shared/contract/triangulate-lidar.ts";
import type { Deps } from "../deps.ts";
import { sendAnswer } from "../http/plain-run.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkSpacing } from "../services/surfaces/check-spacing.ts";
import { checkScans, triangulateScans } from "../services/surfaces/scan-triangulation.ts";
import { checkTriangulateRequest, triangulate } from "../services/surfaces/triangulate.ts";

const NO_SOURCE: ProblemExample = {
  code: "invalid_argument",
  detail: "the source has neither a session_id nor a source_path",
};
const tags = ["surfaces"];
const problems = [NO_SESSION, NO_SOURCE];

export function triangulateRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/triangulate",
    {
      schema: {
        operationId: "triangulate",
        summary: "Mesh the points of clouds, as a PHB1 frame",
        tags,
        body: TriangulateRequest,
      },
      config: { lists: true, frame: TriangulateFrame, problems },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkTriangulateRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamFrameJob(reply, deps.jobs, (job) => triangulate(checked, deps, job));
    },
  );
  app.post(
    "/api/triangulate/lidar",
    {
      schema: {
        operationId: "triangulateScans",
        summary: "Mesh the surfaces that scans see, scan by scan in the directions from the scanner, as a PHB1 frame",
        tags,
        body: ScanTriangulationRequest,
      },
      config: { lists: true, frame: ScanTriangulationFrame, problems },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkScans(body, unknownKeys, deps);
      return streamFrameJob(reply, deps.jobs, (job) => triangulateScans(checked, deps, job));
    },
  );
  app.post(
    "/api/triangulate/check-spacing",
    {
      schema: {
        operationId: "checkSpacing",
        summary: "Compare lmax of an angular triangulation with the spacing of the points",
        tags,
        body: ScanTriangulationRequest,
        response: { 200: SpacingVerdict },
      },
      config: { lists: true, problems },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkScans(body, unknownKeys, deps);
      return sendAnswer(reply, deps.jobs, (job) => checkSpacing(checked, deps, job));
    },
  );
}
