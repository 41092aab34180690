import { TriangulateFrame, TriangulateRequest } from "../../shared/contract/triangulate.ts";
import type { Deps } from "../deps.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkTriangulateRequest, triangulate } from "../services/surfaces/triangulate.ts";

const NO_SOURCE: ProblemExample = {
  code: "invalid_argument",
  detail: "the source has neither a session_id nor a source_path",
};

export function triangulateRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/triangulate",
    {
      schema: {
        operationId: "triangulate",
        summary: "Mesh the points of clouds, as a PHB1 frame",
        tags: ["surfaces"],
        body: TriangulateRequest,
      },
      config: { lists: true, frame: TriangulateFrame, problems: [NO_SESSION, NO_SOURCE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkTriangulateRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamFrameJob(reply, deps.jobs, (job) => triangulate(checked, deps, job));
    },
  );
}
