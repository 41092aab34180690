import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { LabelRegionRequest, LabelRegionResponse } from "../../../shared/contract/cloud-session/label-region.ts";
import type { Deps } from "../../deps.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { labelRegion } from "../../services/cloud/labels.ts";

export function labelRegionRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/label_region",
    {
      schema: {
        summary: "Paint classes into a label column",
        tags: ["cloud session"],
        params: SessionParams,
        body: LabelRegionRequest,
        response: { 200: LabelRegionResponse },
      },
    },
    async ({ params, body }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => labelRegion(session, body, job));
    },
  );
}
