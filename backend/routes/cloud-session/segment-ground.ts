import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionGroundRequest, SessionGroundResponse } from "../../../shared/contract/cloud-session/segment-ground.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, COSTLY, NO_SESSION, NO_SPACE, UNKNOWN_GROUND_METHOD } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { segmentGroundSession } from "../../services/classify/ground.ts";
import { checkGround } from "../../services/classify/ground-filter.ts";
import { GROUND_TOOL } from "../../services/classify/ground-labels.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function segmentGroundRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/segment_ground",
    {
      schema: {
        operationId: "segmentGroundSession",
        summary: "Label the ground of a session in column ground_class",
        tags: ["classify"],
        params: SessionParams,
        body: SessionGroundRequest,
        response: { 200: SessionGroundResponse },
      },
      config: {
        problems: [NO_SESSION, UNKNOWN_GROUND_METHOD, COSTLY, CLOUD_CHANGED, NO_SPACE],
        tool: GROUND_TOOL,
      },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const filter = checkGround(body);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await segmentGroundSession(session, body, filter, deps, job), unknownKeys),
      );
    },
  );
}
