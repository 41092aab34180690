import { SnapGridRequest, SnapGridResponse } from "../../shared/contract/lad.ts";
import { LadRequest, LadTail } from "../../shared/contract/lad-compute.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import type { ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkLadRequest, ladCompute } from "../services/lad/compute.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";
import { snapGrid } from "../services/terrain/snap-grid.ts";

const tags = ["terrain"];

const NO_SCAN: ProblemExample = {
  code: "not_found",
  detail:
    "Cloud session not found: 00000000. Scan 1 is gone: import its file again; a file is not read instead of a session.",
};
const NO_SOURCE: ProblemExample = {
  code: "invalid_argument",
  detail: "Scan 1 has neither a session_id nor points.",
};

export function ladRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/lad/snap-grid",
    {
      schema: {
        operationId: "snapGrid",
        summary: "Raise the columns of a voxel grid to the terrain",
        tags,
        body: SnapGridRequest,
        response: { 200: SnapGridResponse },
      },
      config: { lists: true },
    },
    async ({ body, unknownKeys }, reply) => {
      const answer = await runJson(reply, deps.jobs, (job) => snapGrid(body, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
  app.post(
    "/api/lad/compute",
    {
      schema: {
        operationId: "ladCompute",
        summary: "Invert the leaf area density of voxels from laser beams",
        tags: ["lad"],
        body: LadRequest,
      },
      config: { lists: true, tail: LadTail, problems: [NO_SCAN, NO_SOURCE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkLadRequest(body, unknownKeys, deps); // 400 and 404 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => ladCompute(checked, deps, job));
    },
  );
}
