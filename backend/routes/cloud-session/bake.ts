import { BakeQuery, BakeTail } from "../../../shared/contract/cloud-session/bake.ts";
import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import type { Deps } from "../../deps.ts";
import { streamJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { bake } from "../../services/cloud/bake.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

export function bakeRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/bake",
    {
      schema: {
        summary: "Build the octree of what is left and drop the deleted points",
        tags: ["cloud session"],
        params: SessionParams,
        querystring: BakeQuery,
      },
      config: { tail: BakeTail },
    },
    async ({ params, query, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id); // 404 here, before the stream opens
      return streamJob(reply, deps.jobs, async (job) =>
        withUnknownKeys(await bake(session, query.compact, deps, job), unknownKeys),
      );
    },
  );
}
