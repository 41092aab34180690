import { SessionParams } from "../../../shared/contract/cloud-session/close.ts";
import { TransformRequest, TransformResponse } from "../../../shared/contract/cloud-session/transform.ts";
import type { Deps } from "../../deps.ts";
import { CLOUD_CHANGED, NO_SESSION, NO_SPACE, type ProblemExample } from "../../http/problems.ts";
import { runJson } from "../../http/run-json.ts";
import type { App } from "../../http/types.ts";
import { motionOf } from "../../services/cloud/affine.ts";
import { transformCloud } from "../../services/cloud/transform.ts";
import { withUnknownKeys } from "../../services/run/unknown-keys.ts";

const BAD_MATRIX: ProblemExample = {
  code: "invalid_argument",
  detail: "matrix must be 16 numbers (4 x 4, row-major), not 3",
};

export function transformRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/cloud/session/:id/transform",
    {
      schema: {
        operationId: "transform",
        summary: "Transform every point of a session permanently",
        tags: ["cloud sessions"],
        params: SessionParams,
        body: TransformRequest,
        response: { 200: TransformResponse },
      },
      config: { problems: [NO_SESSION, BAD_MATRIX, CLOUD_CHANGED, NO_SPACE] },
    },
    async ({ params, body, unknownKeys }, reply) => {
      const session = await deps.sessions.get(params.id);
      const motion = motionOf(body.matrix, session.state.meta.world_shift);
      const pose = body.octree_mode === "pose";
      return runJson(reply, deps.jobs, async (job) =>
        withUnknownKeys(await transformCloud(session, { motion, pose }, deps, job), unknownKeys),
      );
    },
  );
}
