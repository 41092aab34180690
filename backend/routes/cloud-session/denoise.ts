import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionDenoiseRequest, SessionDenoiseResponse } from "../../../shared/contract/cloud-session/denoise.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE, UNKNOWN_METHOD } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { denoiseSession } from "../../services/classify/denoise.ts";
import { checkCriterion } from "../../services/classify/noise-criterion.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function denoiseRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/denoise",
    {
      schema: {
        operationId: "denoiseSession",
        summary: "Label the noise of a session in column noise_class",
        tags: ["classify"],
        params: SessionParams,
        body: SessionDenoiseRequest,
        response: { 200: SessionDenoiseResponse },
      },
      config: { problems: [NO_SESSION, UNKNOWN_METHOD, CLOUD_CHANGED, NO_SPACE], tool: "Denoise" },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const criterion = checkCriterion(body);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await denoiseSession(session, body, criterion, deps, job), unknownKeys),
      );
    },
  );
}
