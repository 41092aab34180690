import { DistanceRequest, DistanceTail, MeshRegisterRequest } from "../../shared/contract/c2m.ts";
import { IcpTail } from "../../shared/contract/icp.ts";
import type { Deps } from "../deps.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkDistanceRequest, meshDistance } from "../services/registration/mesh-distance.ts";
import { meshRegistration } from "../services/registration/register.ts";

const WRONG_INDEX: ProblemExample = {
  code: "invalid_argument",
  detail: "mesh_indices[2] is 3, not the number of one of the 3 vertices",
};

export function c2mRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/c2m/distance",
    {
      schema: {
        operationId: "meshDistance",
        summary: "Measure the distances from points to a mesh",
        tags: ["registration"],
        body: DistanceRequest,
      },
      config: { lists: true, tail: DistanceTail, problems: [NO_SESSION, WRONG_INDEX] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkDistanceRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => meshDistance(checked, deps, job));
    },
  );
  app.post(
    "/api/c2m/icp-register",
    {
      schema: {
        operationId: "meshRegister",
        summary: "Find the rigid motion of a mesh onto points (ICP)",
        tags: ["registration"],
        body: MeshRegisterRequest,
      },
      config: { lists: true, tail: IcpTail, problems: [NO_SESSION, WRONG_INDEX] },
    },
    async ({ body, unknownKeys }, reply) =>
      streamJob(reply, deps.jobs, await meshRegistration(body, unknownKeys, deps)), // 400 and 404 before the stream
  );
}
