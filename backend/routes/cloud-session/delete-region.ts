import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { DeleteRegionRequest, DeleteRegionResponse } from "../../../shared/contract/cloud-session/delete-region.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { deleteRegion } from "../../services/cloud/edit.ts";
import { parseRegion } from "../../services/cloud/region.ts";

const NO_REGION: ProblemExample = {
  code: "invalid_argument",
  detail: "region is missing: give an object with kind box, polygon or squares_union",
};

export function deleteRegionRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/delete_region",
    {
      schema: {
        operationId: "deleteRegion",
        summary: "Mark the hits inside a region as deleted",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: DeleteRegionRequest,
        response: { 200: DeleteRegionResponse },
      },
      config: { problems: [NO_SESSION, NO_REGION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body }, reply) => {
      const session = await deps.sessions.get(params.id);
      const region = parseRegion(body.region);
      const deletion = { region, edit_id: body.edit_id, maxSteps: deps.config.maxDeletedHistory };
      return runJson(reply, deps.jobs, (job) => deleteRegion(session, deletion, job));
    },
  );
}
