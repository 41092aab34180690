import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { DetectStemsRequest, DetectStemsResponse } from "../../../shared/contract/cloud-session/detect-stems.ts";
import type { Deps } from "../../deps.ts";
import { BAND_ORDER, CLOUD_CHANGED, NO_SESSION } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";
import { checkStems, detectStems, STEMS_TOOL } from "../../services/trees/stems.ts";

export function detectStemsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/detect_stems",
    {
      schema: {
        operationId: "detectStems",
        summary: "Find the stems that cross a layer of heights above the ground",
        tags: ["trees"],
        params: SessionParams,
        body: DetectStemsRequest,
        response: { 200: DetectStemsResponse },
      },
      config: { problems: [NO_SESSION, BAND_ORDER, CLOUD_CHANGED], tool: STEMS_TOOL },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      checkStems(body);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await detectStems(session, body, deps, job), unknownKeys),
      );
    },
  );
}
