import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionTreesRequest, SessionTreesResponse } from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, COSTLY, NO_SESSION, NO_SPACE, UNKNOWN_TREE_METHOD } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";
import { checkTrees } from "../../services/trees/tree-filter.ts";
import { TREES_TOOL } from "../../services/trees/tree-plan.ts";
import { segmentTreesSession } from "../../services/trees/trees.ts";

export function segmentTreesRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/segment_trees",
    {
      schema: {
        operationId: "segmentTreesSession",
        summary: "Label the trees of a session in column tree_instance",
        tags: ["classify"],
        params: SessionParams,
        body: SessionTreesRequest,
        response: { 200: SessionTreesResponse },
      },
      config: {
        problems: [NO_SESSION, UNKNOWN_TREE_METHOD, COSTLY, CLOUD_CHANGED, NO_SPACE],
        tool: TREES_TOOL,
      },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const filter = checkTrees(body);
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await segmentTreesSession(session, body, filter, deps, job), unknownKeys),
      );
    },
  );
}
