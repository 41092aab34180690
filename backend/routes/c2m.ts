import { DistanceRequest, DistanceTail } from "../../shared/contract/c2m.ts";
import type { Deps } from "../deps.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkDistanceRequest, meshDistance } from "../services/registration/mesh-distance.ts";

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
}
