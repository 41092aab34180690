import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { SessionDemFrame, SessionDemRequest } from "../../../shared/contract/cloud-session/dem.ts";
import type { Deps } from "../../deps.ts";
import { NO_SESSION } from "../../http/problems.ts";
import { streamFrameJob } from "../../http/stream.ts";
import type { App } from "../../http/types.ts";
import { sessionDem } from "../../services/terrain/dem.ts";

export function sessionDemRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/dem",
    {
      schema: {
        operationId: "sessionDem",
        summary: "Compute a terrain, surface or canopy height model of a session, as a PHB1 frame",
        tags: ["terrain"],
        params: SessionParams,
        body: SessionDemRequest,
      },
      config: { frame: SessionDemFrame, problems: [NO_SESSION] },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      return streamFrameJob(reply, deps.jobs, (job) => sessionDem(session, body, unknownKeys, deps, job));
    },
  );
}
