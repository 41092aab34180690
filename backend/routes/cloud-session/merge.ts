import { MergeRequest, MergeResponse } from "../../../shared/contract/cloud-session/merge.ts";
import type { Deps } from "../../deps.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { mergeClouds, mergeInputs } from "../../services/cloud/merge.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function mergeRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/merge",
    {
      schema: {
        summary: "Copy the survivors of several sessions into a new one",
        tags: ["cloud session"],
        body: MergeRequest,
        response: { 200: MergeResponse },
      },
    },
    async ({ body, unknownKeys }, reply) => {
      const inputs = await mergeInputs(body.session_ids, deps);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await mergeClouds(inputs, deps, job), unknownKeys),
      );
    },
  );
}
