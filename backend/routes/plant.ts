import {
  PlantCanopyRequest,
  PlantGenerationResponse,
  PlantModelsResponse,
  PlantRequest,
  PlantStreamRequest,
} from "../../shared/contract/plant.ts";
import { PlantEvents, PlantFrame } from "../../shared/contract/plant-frame.ts";
import {
  MorphParseRequest,
  MorphParseResponse,
  MorphRequest,
  MorphResponse,
} from "../../shared/contract/plant-morph.ts";
import {
  PlantAdvanceRequest,
  PlantAdvanceResponse,
  PlantSessionCreateRequest,
  PlantSessionCreateResponse,
  PlantSessionDeleted,
  PlantSessionList,
  PlantSessionParams,
  PlantSessionStatus,
} from "../../shared/contract/plant-session.ts";
import type { Deps } from "../deps.ts";
import { prefersFrame } from "../http/accept.ts";
import { sendAnswer } from "../http/plain-run.ts";
import type { ProblemExample } from "../http/problems.ts";
import { sendEvents } from "../http/sse.ts";
import { streamFrameJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { canopy, singlePlant } from "../services/plants/answers.ts";
import { canopyFrame, checkInstances, singleFrame } from "../services/plants/frames.ts";
import { plantModels } from "../services/plants/models.ts";
import { morphed, parseMorph } from "../services/plants/morph.ts";
import {
  advanceSession,
  checkAdvance,
  createPlantSession,
  plantSessionList,
  plantSessionStatus,
} from "../services/plants/sessions.ts";

const tags = ["plants"];
const NO_PLANT_SESSION: ProblemExample = { code: "not_found", detail: "Plant session not found: 00000000" };
const BACKWARDS: ProblemExample = { code: "invalid_argument", detail: "dt must be 0 or more days, not -1" };
const JSON_INSTANCES: ProblemExample = {
  code: "invalid_argument",
  detail: "instances are sent in frames only: add Accept: application/octet-stream",
};

export function plantRoutes(app: App, deps: Deps): void {
  buildRoutes(app, deps);
  sessionRoutes(app, deps);
  morphRoutes(app, deps);
}

function buildRoutes(app: App, deps: Deps): void {
  const { jobs } = deps;
  app.get(
    "/api/plant/models",
    {
      schema: {
        operationId: "plantModels",
        summary: "List the species that can grow",
        tags,
        response: { 200: PlantModelsResponse },
      },
    },
    () => plantModels(deps),
  );
  app.post(
    "/api/plant/generate",
    {
      schema: {
        operationId: "generatePlant",
        summary: "Grow one plant and keep it in a session",
        tags,
        body: PlantRequest,
      },
      config: { answer: PlantGenerationResponse, frame: PlantFrame, problems: [JSON_INSTANCES] },
    },
    ({ body, headers, unknownKeys }, reply) => {
      if (prefersFrame(headers.accept)) {
        return streamFrameJob(reply, jobs, (job) => singleFrame(body, unknownKeys, deps, job));
      }
      checkInstances(body); // 400 before the run
      return sendAnswer(reply, jobs, (job) =>
        singlePlant(body, { unknown_keys: unknownKeys, streamed: false }, deps, job),
      );
    },
  );
  app.post(
    "/api/plant/canopy/generate",
    {
      schema: { operationId: "generateCanopy", summary: "Grow a grid of plants", tags, body: PlantCanopyRequest },
      config: { answer: PlantGenerationResponse, frame: PlantFrame, problems: [JSON_INSTANCES] },
    },
    ({ body, headers, unknownKeys }, reply) => {
      if (prefersFrame(headers.accept)) {
        return streamFrameJob(reply, jobs, (job) => canopyFrame(body, unknownKeys, deps, job));
      }
      checkInstances(body); // 400 before the run
      return sendAnswer(reply, jobs, (job) => canopy(body, { unknown_keys: unknownKeys, streamed: false }, deps, job));
    },
  );
  app.post(
    "/api/plant/generate/stream",
    {
      schema: {
        operationId: "streamPlant",
        summary: "Grow a plant or a canopy, with progress as Server-Sent Events",
        tags,
        body: PlantStreamRequest,
      },
      config: { events: PlantEvents },
    },
    ({ body, unknownKeys }, reply) =>
      sendEvents(reply, jobs, (job) => {
        const asked = { unknown_keys: unknownKeys, streamed: true };
        const request = { ...body, instances: false };
        return body.mode === "single" ? singlePlant(request, asked, deps, job) : canopy(request, asked, deps, job);
      }),
  );
}

function sessionRoutes(app: App, deps: Deps): void {
  const { jobs } = deps;
  app.post(
    "/api/plant/session/create",
    {
      schema: {
        operationId: "createPlantSession",
        summary: "Start a plant that can grow on",
        tags,
        body: PlantSessionCreateRequest,
      },
      config: { answer: PlantSessionCreateResponse },
    },
    ({ body, unknownKeys }, reply) =>
      sendAnswer(reply, jobs, (job) => createPlantSession(body, unknownKeys, deps, job)),
  );
  app.post(
    "/api/plant/session/:session_id/advance",
    {
      schema: {
        operationId: "advancePlant",
        summary: "Grow the plant of a session on and get its mesh",
        tags,
        params: PlantSessionParams,
        body: PlantAdvanceRequest,
      },
      config: { answer: PlantAdvanceResponse, problems: [NO_PLANT_SESSION, BACKWARDS] },
    },
    ({ params: { session_id }, body, unknownKeys }, reply) => {
      checkAdvance(session_id, body, deps); // 400 and 404 before the run
      return sendAnswer(reply, jobs, (job) => advanceSession(session_id, body, unknownKeys, deps, job));
    },
  );
  app.get(
    "/api/plant/session/:session_id",
    {
      schema: {
        operationId: "plantSession",
        summary: "Status of a plant session",
        tags,
        params: PlantSessionParams,
        response: { 200: PlantSessionStatus },
      },
      config: { problems: [NO_PLANT_SESSION] },
    },
    ({ params: { session_id } }) => plantSessionStatus(session_id, deps),
  );
  app.delete(
    "/api/plant/session/:session_id",
    {
      schema: {
        operationId: "closePlantSession",
        summary: "Close a plant session",
        tags,
        params: PlantSessionParams,
        response: { 200: PlantSessionDeleted },
      },
      config: { problems: [NO_PLANT_SESSION] },
    },
    ({ params: { session_id } }) => {
      deps.plants.delete(session_id);
      return { success: true as const, session_id };
    },
  );
  app.get(
    "/api/plant/sessions",
    {
      schema: {
        operationId: "plantSessions",
        summary: "List the plant sessions",
        tags,
        response: { 200: PlantSessionList },
      },
    },
    () => plantSessionList(deps),
  );
}

function morphRoutes(app: App, deps: Deps): void {
  const { jobs } = deps;
  app.post(
    "/api/plant/morph/parse",
    {
      schema: {
        operationId: "parseMorph",
        summary: "Read a structure document and an expression into editable values",
        tags,
        body: MorphParseRequest,
      },
      config: { lists: "json", answer: MorphParseResponse },
    },
    ({ body, unknownKeys }, reply) => sendAnswer(reply, jobs, (job) => parseMorph(body, unknownKeys, deps, job)),
  );
  app.post(
    "/api/plant/morph",
    {
      schema: {
        operationId: "morphPlant",
        summary: "Rebuild a plant from an edited document",
        tags,
        body: MorphRequest,
      },
      config: { lists: "json", answer: MorphResponse },
    },
    ({ body, unknownKeys }, reply) => sendAnswer(reply, jobs, (job) => morphed(body, unknownKeys, deps, job)),
  );
}
