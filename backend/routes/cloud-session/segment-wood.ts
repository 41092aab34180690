import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionWoodRequest, SessionWoodResponse } from "../../../shared/contract/cloud-session/segment-wood.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, COSTLY, NO_SESSION, NO_SPACE, UNKNOWN_WOOD_METHOD } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";
import { segmentWoodSession, WOOD_TOOL } from "../../services/wood/wood.ts";
import { checkWood } from "../../services/wood/wood-filter.ts";

export function segmentWoodRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/segment_wood",
    {
      schema: {
        operationId: "segmentWoodSession",
        summary: "Label wood and leaves of a session in column wood_class",
        tags: ["classify"],
        params: SessionParams,
        body: SessionWoodRequest,
        response: { 200: SessionWoodResponse },
      },
      config: {
        problems: [NO_SESSION, UNKNOWN_WOOD_METHOD, COSTLY, CLOUD_CHANGED, NO_SPACE],
        tool: WOOD_TOOL,
      },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const filter = await checkWood(body, deps);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await segmentWoodSession(session, body, filter, deps, job), unknownKeys),
      );
    },
  );
}
