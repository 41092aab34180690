import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import {
  ResetLabelEditsRequest,
  ResetLabelEditsResponse,
} from "../../../shared/contract/cloud-session/reset-label-edits.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { resetLabelEdits } from "../../services/classify/labels.ts";

export function resetLabelEditsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/reset_label_edits",
    {
      schema: {
        operationId: "resetLabelEdits",
        summary: "Undo label strokes, newest first",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: ResetLabelEditsRequest,
        response: { 200: ResetLabelEditsResponse },
      },
      config: { problems: [NO_SESSION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body: { slug, undo_after_stroke_ids = null, edit_count = null } }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) =>
        resetLabelEdits(session, { slug, undo_after_stroke_ids, edit_count }, job),
      );
    },
  );
}
