import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionDemRequest } from "../../../shared/contract/cloud-session/dem.ts";
import type { Deps } from "../../deps.ts";
import { streamFrameJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { sessionDem } from "../../services/terrain/dem.ts";

export function sessionDemRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/dem",
    {
      schema: {
        summary: "Terrain, surface or canopy height of a session as a PHB1 frame",
        tags: ["cloud session"],
        params: SessionParams,
        body: SessionDemRequest,
      },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      return streamFrameJob(reply, deps.jobs, (job) => sessionDem(session, body, unknownKeys, deps, job));
    },
  );
}
