import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { CommitLabelsRequest, CommitLabelsTail } from "../../../shared/contract/cloud-session/commit-labels.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { checkLabelColumn, commitLabels } from "../../services/classify/labels.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const NO_COLUMN: ProblemExample = {
  code: "invalid_argument",
  detail: 'No label column "trees" to commit. Available: []',
};

export function commitLabelsRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/commit_labels",
    {
      schema: {
        operationId: "commitLabels",
        summary: "Make label strokes permanent and add them to the octree",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: CommitLabelsRequest,
      },
      config: { problems: [NO_SESSION, NO_COLUMN, CLOUD_CHANGED, NO_SPACE], tail: CommitLabelsTail },
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
