import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { RebuildOctreeResponse } from "../../../shared/contract/cloud-session/rebuild-octree.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { rebuildOctree } from "../../services/octree/rebuild.ts";

export function rebuildOctreeRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/rebuild_octree",
    {
      schema: {
        operationId: "rebuildOctree",
        summary: "Rebuild the octrees of a session",
        tags: ["octree"],
        params: SessionParams,
        response: { 200: RebuildOctreeResponse },
      },
      config: { problems: [NO_SESSION, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params }, reply) => {
      const session = await deps.sessions.get(params.id);
      return runJson(reply, deps.jobs, (job) => rebuildOctree(session, deps, job));
    },
  );
}
