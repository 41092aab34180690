import { CROWN_SHAPES, CrownRequest, CrownTail } from "../../shared/contract/fit-crown.ts";
import type { Deps } from "../deps.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkCrownRequest, fitCrowns } from "../services/fit/crown.ts";

const UNKNOWN_SHAPE: ProblemExample = {
  code: "invalid_argument",
  detail: `shape "sphere" is none of ${CROWN_SHAPES.join(", ")}`,
};

export function fitRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/fit/crown",
    {
      schema: {
        operationId: "fitCrown",
        summary: "Fit a solid to the crown of each tree",
        tags: ["fit"],
        body: CrownRequest,
      },
      config: { tail: CrownTail, problems: [NO_SESSION, UNKNOWN_SHAPE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkCrownRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => fitCrowns(checked, deps, job), { failedTail: { crowns: [] } });
    },
  );
}
