import { QsmBuildRequest, QsmBuildTail, QsmImportRequest } from "../../shared/contract/qsm.ts";
import { LeafAnglesRequest, LeafAnglesResponse } from "../../shared/contract/qsm-leaf-angles.ts";
import {
  LEAF_TEXTURE_NAMES,
  LeafTexturesResponse,
  LeavesRequest,
  LeavesResponse,
} from "../../shared/contract/qsm-leaves.ts";
import { PhyllotaxisRequest, PhyllotaxisResponse } from "../../shared/contract/qsm-phyllotaxis.ts";
import { MAX_QSM_BODY_BYTES } from "../../shared/limits.ts";
import type { Deps } from "../deps.ts";
import { sendJson } from "../http/json-stream.ts";
import { sendAnswer } from "../http/plain-run.ts";
import { NO_FILE, NO_SESSION, type ProblemExample } from "../http/problems.ts";
import { runJson } from "../http/run-json.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { buildModel, checkQsmBuild } from "../services/qsm/build.ts";
import { checkQsmImport, importModel } from "../services/qsm/import.ts";
import { adjustedLeaves } from "../services/qsm/leaf-angles.ts";
import { leavesOf } from "../services/qsm/leaves.ts";
import { NO_MODEL } from "../services/qsm/model.ts";
import { phyllotaxisOf } from "../services/qsm/phyllotaxis.ts";
import { withUnknownKeys } from "../services/run/unknown-keys.ts";

const NO_TABLE: ProblemExample = {
  code: "invalid_argument",
  detail: 'scan.txt: the extension ".txt" is no table of cylinders; use .csv',
};

export function qsmRoutes(app: App, deps: Deps): void {
  app.post(
    "/api/qsm/build",
    {
      schema: {
        operationId: "buildQsm",
        summary: "Reconstruct one leafless tree as connected cylinders",
        tags: ["qsm"],
        body: QsmBuildRequest,
      },
      config: { lists: true, tail: QsmBuildTail, problems: [NO_SESSION] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkQsmBuild(body, deps); // 400 and 404 here, before the stream opens
      return streamJob(
        reply,
        deps.jobs,
        async (job) => withUnknownKeys(await buildModel(checked, deps, job), unknownKeys),
        { failedTail: { ...NO_MODEL, points_used: 0, warnings: [] } },
      );
    },
  );

  app.post(
    "/api/qsm/import",
    {
      schema: {
        operationId: "importQsm",
        summary: "Read a QSM from a table of cylinders and rebuild its shoots",
        tags: ["qsm"],
        body: QsmImportRequest,
        response: { 200: QsmBuildTail },
      },
      config: { problems: [NO_FILE, NO_TABLE], tool: "QSM import" },
    },
    async ({ body, unknownKeys }, reply) => {
      const path = await checkQsmImport(body);
      const answer = await runJson(reply, deps.jobs, (job) => importModel(path, deps, job));
      return sendJson(reply, withUnknownKeys(answer, unknownKeys));
    },
  );
  app.post(
    "/api/qsm/phyllotaxis",
    {
      schema: {
        operationId: "qsmPhyllotaxis",
        summary: "Estimate the divergence angle of leaves from the azimuths of branches",
        tags: ["qsm"],
        body: PhyllotaxisRequest,
        response: { 200: PhyllotaxisResponse },
      },
      config: { lists: "json" },
    },
    async ({ body, unknownKeys }, reply) =>
      withUnknownKeys(await runJson(reply, deps.jobs, (job) => phyllotaxisOf(body, job)), unknownKeys),
  );
  app.get(
    "/api/qsm/leaf-textures",
    {
      schema: {
        operationId: "qsmLeafTextures",
        summary: "Names of the pictures of leaves that the service has",
        tags: ["qsm"],
        response: { 200: LeafTexturesResponse },
      },
    },
    async () => ({ textures: [...LEAF_TEXTURE_NAMES] }),
  );
  app.post(
    "/api/qsm/leaves",
    {
      schema: {
        operationId: "qsmLeaves",
        summary: "Put leaves on the youngest growth of a tree, as a mesh",
        tags: ["qsm"],
        body: LeavesRequest,
      },
      config: { lists: "json", answer: LeavesResponse },
    },
    ({ body, unknownKeys }, reply) => sendAnswer(reply, deps.jobs, (job) => leavesOf(body, unknownKeys, deps, job)),
  );
  app.post(
    "/api/qsm/adjust-leaf-angles",
    {
      schema: {
        operationId: "qsmAdjustLeafAngles",
        summary: "Put leaves on a tree and turn them, so that their angles follow those of measured leaves",
        tags: ["qsm"],
        body: LeafAnglesRequest,
      },
      config: { lists: true, restBytes: MAX_QSM_BODY_BYTES, answer: LeafAnglesResponse },
    },
    ({ body, unknownKeys }, reply) =>
      sendAnswer(reply, deps.jobs, (job) => adjustedLeaves(body, unknownKeys, deps, job)),
  );
}
