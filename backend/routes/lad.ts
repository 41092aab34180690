import { SnapGridRequest, SnapGridResponse } from "../../shared/contract/lad.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";
import { snapGrid } from "../services/terrain/snap-grid.ts";

const tags = ["terrain"];

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
}
