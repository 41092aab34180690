import { SkeletonRequest, SkeletonResponse } from "../../shared/contract/skeleton.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { extractSkeleton, SKELETON_TOOL } from "../services/qsm/skeleton.ts";
import { plantSession } from "../services/qsm/skeleton-input.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const NO_POINTS: ProblemExample = {
  code: "invalid_argument",
  detail: "Send `points` or a `source` descriptor.",
};

export function skeletonRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/skeleton/extract",
    {
      schema: {
        operationId: "extractSkeleton",
        summary: "Topological skeleton of one plant",
        tags: ["qsm"],
        body: SkeletonRequest,
        response: { 200: SkeletonResponse },
      },
      config: { lists: true, problems: [NO_SESSION, NO_POINTS], tool: SKELETON_TOOL },
    },
    async ({ body, unknownKeys }, reply) => {
      const session = await plantSession(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => extractSkeleton(body, session, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
}
