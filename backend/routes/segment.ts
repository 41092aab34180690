import { GroundRequest, GroundResponse } from "../../shared/contract/segment-ground.ts";
import { TreesRequest, TreesResponse } from "../../shared/contract/segment-trees.ts";
import { WoodRequest, WoodResponse } from "../../shared/contract/segment-wood.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { NO_SESSION, UNKNOWN_GROUND_METHOD, UNKNOWN_TREE_METHOD, UNKNOWN_WOOD_METHOD } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import type { App } from "../http/types.ts";
import { checkGroundSource, groundFlat } from "../services/classify/ground.ts";
import { checkGround } from "../services/classify/ground-filter.ts";
import { GROUND_TOOL } from "../services/classify/ground-labels.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";
import { checkTrees } from "../services/trees/tree-filter.ts";
import { checkTreesSource } from "../services/trees/tree-input.ts";
import { TREES_TOOL } from "../services/trees/tree-plan.ts";
import { treesFlat } from "../services/trees/trees.ts";
import { WOOD_TOOL, woodFlat } from "../services/wood/wood.ts";
import { checkWood } from "../services/wood/wood-filter.ts";
import { woodSources } from "../services/wood/wood-input.ts";

export function segmentRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/segment/ground",
    {
      schema: {
        operationId: "segmentGround",
        summary: "Label ground points, without changing a session",
        tags: ["classify"],
        body: GroundRequest,
        response: { 200: GroundResponse },
      },
      config: { lists: true, problems: [NO_SESSION, UNKNOWN_GROUND_METHOD], tool: GROUND_TOOL },
    },
    async ({ body, unknownKeys }, reply) => {
      const filter = checkGround(body);
      const session = await checkGroundSource(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => groundFlat(body, filter, session, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );

  app.post(
    "/api/segment/trees",
    {
      schema: {
        operationId: "segmentTrees",
        summary: "Label individual trees, without changing a session",
        tags: ["classify"],
        body: TreesRequest,
        response: { 200: TreesResponse },
      },
      config: { lists: true, problems: [NO_SESSION, UNKNOWN_TREE_METHOD], tool: TREES_TOOL },
    },
    async ({ body, unknownKeys }, reply) => {
      const filter = checkTrees(body);
      const session = await checkTreesSource(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => treesFlat(body, filter, session, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );

  app.post(
    "/api/segment/wood",
    {
      schema: {
        operationId: "segmentWood",
        summary: "Label wood and leaves, without changing a session",
        tags: ["classify"],
        body: WoodRequest,
        response: { 200: WoodResponse },
      },
      config: { lists: true, problems: [NO_SESSION, UNKNOWN_WOOD_METHOD], tool: WOOD_TOOL },
    },
    async ({ body, unknownKeys }, reply) => {
      const filter = await checkWood(body, deps);
      const sources = await woodSources(body, deps);
      const answer = await runJson(reply, deps.jobs, (job) => woodFlat(body, filter, sources, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
}
