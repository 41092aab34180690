import { TrajectoryParseRequest, TrajectoryParseResponse } from "../../shared/contract/trajectory.ts";
import type { Deps } from "../deps.ts";
import { NO_FILE, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { parseTrajectory } from "../services/lidar/trajectory.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const CUT_OFF: ProblemExample = {
  code: "invalid_file",
  detail: "scan.txt has 11 bytes, which is not a multiple of the 136 bytes of a record",
};

export function trajectoryRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/trajectory/parse",
    {
      schema: {
        operationId: "parseTrajectory",
        summary: "Read a binary trajectory (SBET) as a pose stream",
        tags: ["lidar"],
        body: TrajectoryParseRequest,
        response: { 200: TrajectoryParseResponse },
      },
      config: { problems: [NO_FILE, CUT_OFF] },
    },
    async ({ body, unknownKeys }, reply) => {
      const answer = await runJson(reply, deps.jobs, (job) => parseTrajectory(body, job));
      return withUnknownKeys(answer, unknownKeys);
    },
  );
}
