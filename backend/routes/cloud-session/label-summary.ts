import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { LabelSummary, LabelSummaryQuery } from "../../../shared/contract/cloud-session/label-summary.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { labelSummary } from "../../services/classify/labels.ts";

export function labelSummaryRoutes(app: App, deps: Deps): void {
  app.get(
    "/api/cloud/session/:id/label_summary",
    {
      schema: {
        operationId: "labelSummary",
        summary: "Count the classes of a label column",
        tags: ["cloud sessions"],
        params: SessionParams,
        querystring: LabelSummaryQuery,
        response: { 200: LabelSummary },
      },
      config: { problems: [NO_SESSION] },
    },
    async ({ params, query }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => labelSummary(session, query.slug, job));
    },
  );
}
