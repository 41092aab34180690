import { IcpTail } from "../../shared/contract/icp.ts";
import { MeshPairRegisterRequest } from "../../shared/contract/m2m.ts";
import type { Deps } from "../deps.ts";
import type { ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { meshPairRegistration } from "../services/registration/register.ts";

const WRONG_INDEX: ProblemExample = {
  code: "invalid_argument",
  detail: "source_indices[2] is 3, not the number of one of the 3 vertices",
};

export function m2mRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/m2m/icp-register",
    {
      schema: {
        operationId: "meshPairRegister",
        summary: "Find the rigid motion of a mesh onto another (ICP)",
        tags: ["registration"],
        body: MeshPairRegisterRequest,
      },
      config: { lists: true, tail: IcpTail, problems: [WRONG_INDEX] },
    },
    async ({ body, unknownKeys }, reply) =>
      streamJob(reply, deps.jobs, await meshPairRegistration(body, unknownKeys, deps)), // 400 before the stream
  );
}
