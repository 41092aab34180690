import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import {
  ExtractByColumnRequest,
  ExtractByColumnTail,
} from "../../../shared/contract/cloud-session/extract-by-column.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { extractByColumn } from "../../services/cloud/extract.ts";
import { extraColumn } from "../../services/octree/columns.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const UNKNOWN_COLUMN: ProblemExample = {
  code: "invalid_argument",
  detail: "Unknown scalar attribute: 'tree_id'. Available: []",
};

export function extractByColumnRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/extract_by_column",
    {
      schema: {
        operationId: "extractByColumn",
        summary: "Copy each class of a column to its own new session",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: ExtractByColumnRequest,
      },
      config: { problems: [NO_SESSION, UNKNOWN_COLUMN, NO_SPACE], tail: ExtractByColumnTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      extraColumn(session.state, body.slug); // 400 here, before the stream opens
      return streamJob(
        reply,
        deps.jobs,
        async (job) => withUnknownKeys(await extractByColumn(session, body, deps, job), unknownKeys),
        {
          failedTail: { children: [] },
        },
      );
    },
  );
}
