import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { TreeInventoryRequest, TreeInventoryTail } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";
import { treeInventory } from "../../services/trees/inventory.ts";

export function treeInventoryRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/tree_inventory",
    {
      schema: {
        operationId: "treeInventory",
        summary: "Measure every tree of column tree_instance, and the stand",
        tags: ["trees"],
        params: SessionParams,
        body: TreeInventoryRequest,
      },
      config: { problems: [NO_SESSION], tail: TreeInventoryTail },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 here, before the stream opens
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await treeInventory(session, body, deps, job), unknownKeys),
      );
    },
  );
}
