import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { TreeQsmRequest, TreeQsmTail } from "../../../shared/contract/cloud-session/tree-qsm.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { treeModels } from "../../services/qsm/trees.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function treeQsmRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/tree_qsm",
    {
      schema: {
        operationId: "treeQsm",
        summary: "Build a QSM of every tree of column tree_instance",
        tags: ["qsm"],
        params: SessionParams,
        body: TreeQsmRequest,
      },
      config: { problems: [NO_SESSION], tail: TreeQsmTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 here, before the stream opens
      const failedTail = { results: [], warnings: [] };
      return streamJob(
        reply,
        deps.jobs,
        async (job) => withUnknownKeys(await treeModels(session, body, deps, job), unknownKeys),
        { failedTail },
      );
    },
  );
}
