import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { DuplicateResponse } from "../../../shared/contract/cloud-session/duplicate.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { duplicateCloud } from "../../services/cloud/split.ts";

export function duplicateRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/duplicate",
    {
      schema: {
        operationId: "duplicate",
        summary: "Copy a session without its deleted points",
        tags: ["cloud sessions"],
        params: SessionParams,
        response: { 200: DuplicateResponse },
      },
      config: { problems: [NO_SESSION, NO_SPACE] },
    },
    async ({ params }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => duplicateCloud(session, deps, job));
    },
  );
}
