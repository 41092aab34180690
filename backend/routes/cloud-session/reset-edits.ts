import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { ResetEditsRequest, ResetEditsResponse } from "../../../shared/contract/cloud-session/reset-edits.ts";
import type { Deps } from "../../deps.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { resetEdits } from "../../services/cloud/edit.ts";

export function resetEditsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/reset_edits",
    {
      schema: {
        summary: "Take deletions back, newest first",
        tags: ["cloud session"],
        params: SessionParams,
        body: ResetEditsRequest,
        response: { 200: ResetEditsResponse },
      },
    },
    async ({ params, body }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => resetEdits(session, body.edit_count ?? 0, job));
    },
  );
}
