import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SplitRequest, SplitResponse } from "../../../shared/contract/cloud-session/split.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SELECTION, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { checkSelection } from "../../services/cloud/selection.ts";
import { splitCloud } from "../../services/cloud/split.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function splitRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/split",
    {
      schema: {
        operationId: "split",
        summary: "Move the hits outside the selection to a new session",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: SplitRequest,
        response: { 200: SplitResponse },
      },
      config: { problems: [NO_SESSION, NO_SELECTION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const selection = checkSelection(body, session.state);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await splitCloud(session, selection, deps, job), unknownKeys),
      );
    },
  );
}
