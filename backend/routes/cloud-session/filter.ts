import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { FilterRequest, FilterTail } from "../../../shared/contract/cloud-session/filter.ts";
import type { Deps } from "../../deps.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { filterCloud } from "../../services/cloud/filter.ts";
import { checkSelection } from "../../services/cloud/selection.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function filterRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/filter",
    {
      schema: {
        summary: "Delete every hit outside a selection, for good",
        tags: ["cloud session"],
        params: SessionParams,
        body: FilterRequest,
      },
      config: { tail: FilterTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const selection = checkSelection(body, session.state); // 400 here, before the stream opens
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await filterCloud(session, { selection, rebuild: body.rebuild }, deps, job), unknownKeys),
      );
    },
  );
}
