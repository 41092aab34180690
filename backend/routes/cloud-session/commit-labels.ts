import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { CommitLabelsRequest, CommitLabelsTail } from "../../../shared/contract/cloud-session/commit-labels.ts";
import type { Deps } from "../../deps.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { checkLabelColumn, commitLabels } from "../../services/cloud/labels.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function commitLabelsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/commit_labels",
    {
      schema: {
        summary: "Make label strokes permanent and show them in the octree",
        tags: ["cloud session"],
        params: SessionParams,
        body: CommitLabelsRequest,
      },
      config: { tail: CommitLabelsTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      checkLabelColumn(session.state, body.slug);
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await commitLabels(session, body.slug, deps, job), unknownKeys),
      );
    },
  );
}
