import { MergeRequest, MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { mergeClouds, mergeInputs } from "../../services/cloud/merge.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const ONE_SESSION: ProblemExample = {
  code: "invalid_argument",
  detail: "session_ids names 1 session: a merge needs at least two",
};

export function mergeRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/merge",
    {
      schema: {
        operationId: "merge",
        summary: "Copy the points of several sessions into a new session",
        tags: ["cloud sessions"],
        body: MergeRequest,
        response: { 200: MergeResponse },
      },
      config: { problems: [NO_SESSION, ONE_SESSION, NO_SPACE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const inputs = await mergeInputs(body.session_ids, deps);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await mergeClouds(inputs, deps, job), unknownKeys),
      );
    },
  );
}
