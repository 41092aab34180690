import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { ResetEditsRequest, ResetEditsResponse } from "../../../shared/contract/cloud-session/reset-edits.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { resetEdits } from "../../services/cloud/edit.ts";

export function resetEditsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/reset_edits",
    {
      schema: {
        operationId: "resetEdits",
        summary: "Undo deletions, newest first",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: ResetEditsRequest,
        response: { 200: ResetEditsResponse },
      },
      config: { problems: [NO_SESSION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => resetEdits(session, body.edit_count ?? 0, job));
    },
  );
}
