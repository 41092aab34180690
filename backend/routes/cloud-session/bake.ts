import { BakeQuery, BakeTail } from "../../../shared/contract/cloud-session/bake.ts";
import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE } from "../../http/problems.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { bake } from "../../services/cloud/bake.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function bakeRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/bake",
    {
      schema: {
        operationId: "bake",
        summary: "Drop the deleted points and build the octree of the remaining ones",
        tags: ["cloud sessions"],
        params: SessionParams,
        querystring: BakeQuery,
      },
      config: { problems: [NO_SESSION, CLOUD_CHANGED, NO_SPACE], tail: BakeTail },
    },
    async ({ params, query, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 here, before the stream opens
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await bake(session, query.compact, deps, job), unknownKeys),
      );
    },
  );
}
