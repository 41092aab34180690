import {
  type PlantCanopyRequest,
  PlantGenerationResponse,
  PlantModelsResponse,
  type PlantRequest,
  type PlantStreamRequest,
} from "../contract/plant.ts";
import { PlantFrameMeta } from "../contract/plant-frame.ts";
import {
  type MorphParseRequest,
  MorphParseResponse,
  type MorphRequest,
  MorphResponse,
} from "../contract/plant-morph.ts";
import {
  type PlantAdvanceRequest,
  PlantAdvanceResponse,
  type PlantSessionCreateRequest,
  PlantSessionCreateResponse,
  PlantSessionDeleted,
  PlantSessionList,
  PlantSessionStatus,
} from "../contract/plant-session.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, checked, type Input } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

const BASE = "/api/plant";
const sessionPath = (id: string) => `${BASE}/session/${encodeURIComponent(id)}`;

/**
 * Plants. A build that fails throws; sessions and morphs report `success: false` as their responses say.
 */
export const plantsClient = (calls: Calls) => ({
  /** Lists the species. */
  plantModels: (call?: CallOptions) => calls.get(PlantModelsResponse, `${BASE}/models`, CLIENT_TIMEOUT_MS.quick, call),
  /** Grows one plant: a frame, with `instances` of prototypes and matrices. Keeps it in a session. */
  generatePlant: (request: Input<typeof PlantRequest>, run?: RunOptions) =>
    calls.runFrame(PlantFrameMeta, `${BASE}/generate`, request, run),
  /** Grows a grid of plants: a frame, with `instances` of prototypes and matrices. */
  generateCanopy: (request: Input<typeof PlantCanopyRequest>, run?: RunOptions) =>
    calls.runFrame(PlantFrameMeta, `${BASE}/canopy/generate`, request, run),
  /** Grows a plant or a canopy as JSON, with progress. */
  streamPlant: (request: Input<typeof PlantStreamRequest>, run?: RunOptions) =>
    calls.runEvents(PlantGenerationResponse, `${BASE}/generate/stream`, request, run),
  /** Starts a plant that can grow on. */
  createPlantSession: (request: Input<typeof PlantSessionCreateRequest>, call?: CallOptions) =>
    calls.post(PlantSessionCreateResponse, `${BASE}/session/create`, request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Grows the plant of a session on and returns its mesh. */
  advancePlant: (session_id: string, request: Input<typeof PlantAdvanceRequest> = {}, call?: CallOptions) =>
    calls.post(PlantAdvanceResponse, `${sessionPath(session_id)}/advance`, request, CLIENT_TIMEOUT_MS.heavy, call),
  plantSession: (session_id: string, call?: CallOptions) =>
    calls.get(PlantSessionStatus, sessionPath(session_id), CLIENT_TIMEOUT_MS.quick, call),
  closePlantSession: async (session_id: string, call?: CallOptions) => {
    const path = sessionPath(session_id);
    return checked(
      PlantSessionDeleted,
      await calls.transport.json({ method: "DELETE", path, timeoutMs: CLIENT_TIMEOUT_MS.quick }, call),
    );
  },
  plantSessions: (call?: CallOptions) => calls.get(PlantSessionList, `${BASE}/sessions`, CLIENT_TIMEOUT_MS.quick, call),
  /** Reads a structure document, and checks an expression. */
  parseMorph: (request: Input<typeof MorphParseRequest>, call?: CallOptions) =>
    calls.post(MorphParseResponse, `${BASE}/morph/parse`, request, CLIENT_TIMEOUT_MS.heavy, call),
  /** Rebuilds a plant from an edited document. */
  morphPlant: (request: Input<typeof MorphRequest>, call?: CallOptions) =>
    calls.post(MorphResponse, `${BASE}/morph`, request, CLIENT_TIMEOUT_MS.heavy, call),
});
