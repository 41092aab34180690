import { CloudRegisterRequest } from "../../shared/contract/c2c.ts";
import { IcpTail } from "../../shared/contract/icp.ts";
import type { Deps } from "../deps.ts";
import { NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { cloudRegistration } from "../services/registration/register.ts";

const NO_TRIPLES: ProblemExample = {
  code: "invalid_argument",
  detail: "target_points has 2 numbers, not a multiple of 3",
};

const TWO_STARTS: ProblemExample = {
  code: "invalid_argument",
  detail: 'initial "auto" and init_transform exclude each other: send init_transform alone to begin there',
};

export function c2cRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/c2c/icp-register",
    {
      schema: {
        operationId: "cloudRegister",
        summary: "Find the rigid motion of a cloud onto another (ICP)",
        tags: ["registration"],
        body: CloudRegisterRequest,
      },
      config: { lists: true, tail: IcpTail, problems: [NO_SESSION, NO_TRIPLES, TWO_STARTS] },
    },
    async ({ body, unknownKeys }, reply) =>
      streamJob(reply, deps.jobs, await cloudRegistration(body, unknownKeys, deps)), // 400 and 404 before the stream
  );
}
