import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import {
  ExtractByColumnRequest,
  ExtractByColumnTail,
} from "../../../shared/contract/cloud-session/extract-by-column.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { extractByColumn } from "../../services/cloud/extract.ts";
import { askAboutExtraction } from "../../services/cloud/extraction-cost.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const UNKNOWN_COLUMN: ProblemExample = {
  code: "invalid_argument",
  detail: "Unknown scalar attribute: 'tree_id'. Available: []",
};

const MANY = {
  message:
    "Extraction by point_id creates 5000 clouds, one per value. Send the request again with acknowledge_cost to run it.",
  estimated_seconds: 100,
  estimated_bytes: 900_000_000,
  budget_bytes: 8_000_000_000,
  headroom_bytes: 8_000_000_000,
  admitted_bytes: 0,
  over_time: true,
  over_memory: false,
  session_count: 5000,
};
const MANY_CLOUDS: ProblemExample = { code: "conflict", detail: { cost_warning: MANY, message: MANY.message } };

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
      config: { problems: [NO_SESSION, UNKNOWN_COLUMN, MANY_CLOUDS, NO_SPACE], tail: ExtractByColumnTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      await runJson(reply, deps.jobs, (job) => askAboutExtraction(session, body, deps, job)); // 400 and 409 before the stream
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
