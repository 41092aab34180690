import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { ExtractRequest, ExtractResponse } from "../../../shared/contract/cloud-session/extract.ts";
import type { Deps } from "../../deps.ts";
import { NO_SELECTION, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { checkSelection } from "../../services/cloud/selection.ts";
import { extractCloud } from "../../services/cloud/split.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function extractRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/extract",
    {
      schema: {
        operationId: "extract",
        summary: "Copy the selected hits to a new session",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: ExtractRequest,
        response: { 200: ExtractResponse },
      },
      config: { problems: [NO_SESSION, NO_SELECTION, NO_SPACE] },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const selection = checkSelection(body, session.state);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await extractCloud(session, selection, deps, job), unknownKeys),
      );
    },
  );
}
