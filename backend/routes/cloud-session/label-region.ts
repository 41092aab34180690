import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { LabelRegionRequest, LabelRegionResponse } from "../../../shared/contract/cloud-session/label-region.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { labelRegion } from "../../services/classify/labels.ts";

const NO_STROKES: ProblemExample = { code: "invalid_argument", detail: "strokes is empty: give at least one" };

export function labelRegionRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/label_region",
    {
      schema: {
        operationId: "labelRegion",
        summary: "Paint classes into a label column",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: LabelRegionRequest,
        response: { 200: LabelRegionResponse },
      },
      config: { problems: [NO_SESSION, NO_STROKES, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => labelRegion(session, body, deps, job));
    },
  );
}
