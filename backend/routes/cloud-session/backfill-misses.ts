import { BackfillMissesRequest, BackfillMissesTail } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import { sendJson } from "../../http/json-stream.ts";
import { NO_SESSION, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { backfillMisses } from "../../services/lad/backfill.ts";
import { checkBackfill } from "../../services/lad/backfill-check.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const SHORT_ORIGIN: ProblemExample = {
  code: "invalid_argument",
  detail: "origin must be three finite numbers, not [0, 0]",
};

export function backfillMissesRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/backfill-misses",
    {
      schema: {
        operationId: "backfillMisses",
        summary: "Recover the pulses of a scan that returned nothing",
        tags: ["lad"],
        params: SessionParams,
        body: BackfillMissesRequest,
      },
      config: { problems: [NO_SESSION, SHORT_ORIGIN], tail: BackfillMissesTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 and 400 here, before the stream opens
      const checked = await runJson(reply, deps.jobs, (job) => checkBackfill(session, body, job));
      if (!("routes" in checked)) return sendJson(reply, withUnknownKeys(checked, unknownKeys));
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await backfillMisses(checked, deps, job), unknownKeys),
      );
    },
  );
}
