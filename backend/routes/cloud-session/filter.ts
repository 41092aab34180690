import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { FilterRequest, FilterResponse } from "../../../shared/contract/cloud-session/filter.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SELECTION, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { filterCloud } from "../../services/cloud/filter.ts";
import { checkSelection } from "../../services/cloud/selection.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function filterRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/filter",
    {
      schema: {
        operationId: "filter",
        summary: "Delete the hits outside the selection permanently",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: FilterRequest,
        response: { 200: FilterResponse },
      },
      config: { problems: [NO_SESSION, NO_SELECTION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const selection = checkSelection(body, session.state);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await filterCloud(session, { selection, rebuild: body.rebuild }, deps, job), unknownKeys),
      );
    },
  );
}
