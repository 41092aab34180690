import {
  type OpenProjectRequest,
  OpenProjectTail,
  type SaveProjectRequest,
  SaveProjectTail,
  StageSceneResponse,
} from "../contract/project.ts";
import { CLIENT_TIMEOUT_MS } from "../limits.ts";
import { type Calls, checked, type Input } from "./calls.ts";
import type { CallOptions, RunOptions } from "./transport.ts";

/** Project files. shared/wire/psc1.ts encodes the scene document, psc1-decode.ts reads it. */
export const projectsClient = (calls: Calls) => ({
  /** Stages a scene document for one save. */
  stageScene: async (document: Uint8Array<ArrayBuffer>, call?: CallOptions) => {
    const timeoutMs = CLIENT_TIMEOUT_MS.project;
    const request = { method: "POST", path: "/api/project/scene", frame: document, timeoutMs } as const;
    return checked(StageSceneResponse, await calls.transport.json(request, call));
  },
  /** Downloads the scene document of an opened project; the token is for one use. */
  projectScene: (token: string, call?: CallOptions): Promise<Uint8Array> =>
    calls.transport.bytes(
      {
        method: "GET",
        path: `/api/project/scene/${encodeURIComponent(token)}`,
        timeoutMs: CLIENT_TIMEOUT_MS.project,
      },
      call,
    ),
  /** Saves sessions, their display and a staged scene as one file. */
  saveProject: (request: Input<typeof SaveProjectRequest>, run?: RunOptions) =>
    calls.runJson(SaveProjectTail, "/api/project/save", request, CLIENT_TIMEOUT_MS.project, run),
  /** Opens a project file as new sessions. */
  openProject: (request: Input<typeof OpenProjectRequest>, run?: RunOptions) =>
    calls.runJson(OpenProjectTail, "/api/project/open", request, CLIENT_TIMEOUT_MS.project, run),
});
