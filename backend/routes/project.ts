import { createReadStream } from "node:fs";
import {
  OpenProjectRequest,
  OpenProjectTail,
  SaveProjectRequest,
  SaveProjectTail,
  SceneParams,
  StageSceneResponse,
} from "../../shared/contract/project.ts";
import { AppError } from "../../shared/errors.ts";
import type { Deps } from "../deps.ts";
import { NO_SPACE, type ProblemExample } from "../http/problems.ts";
import { streamJob } from "../http/stream.ts";
import type { App } from "../http/types.ts";
import { checkOpenRequest, openProject } from "../services/projects/open.ts";
import { checkSaveRequest, saveProject } from "../services/projects/save.ts";

const tags = ["projects"];
const EMPTY: ProblemExample = { code: "invalid_argument", detail: "the scene document is empty" };
const NO_TOKEN: ProblemExample = { code: "not_found", detail: "Unknown or expired scene token." };

const NO_PROJECT: ProblemExample = { code: "not_found", detail: "File not found: /data/missing.proj" };
const NO_FOLDER: ProblemExample = {
  code: "invalid_argument",
  detail: 'the folder of path "/missing/plot.proj" does not exist; create it first',
};
const PROJECT_EXISTS: ProblemExample = {
  code: "conflict",
  detail:
    'path "/data/plot.proj" exists, and its content is none of the formats that are written here; send overwrite: true to replace it',
};
const RELATIVE: ProblemExample = { code: "invalid_argument", detail: '"plot.proj" is not an absolute path' };

export function projectRoutes(app: App, deps: Deps): void {
  sceneRoutes(app, deps);
  app.post(
    "/api/project/save",
    {
      schema: {
        operationId: "saveProject",
        summary: "Save clouds, their display and the scene as one project file",
        tags,
        body: SaveProjectRequest,
      },
      config: { tail: SaveProjectTail, problems: [NO_TOKEN, NO_FOLDER, PROJECT_EXISTS] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkSaveRequest(body, unknownKeys, deps); // 400, 404 and 409 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => saveProject(checked, deps, job));
    },
  );
  app.post(
    "/api/project/open",
    {
      schema: {
        operationId: "openProject",
        summary: "Open a project file: new sessions, their display and the scene",
        tags,
        body: OpenProjectRequest,
      },
      config: { tail: OpenProjectTail, problems: [NO_PROJECT, RELATIVE] },
    },
    async ({ body, unknownKeys }, reply) => {
      const checked = await checkOpenRequest(body.path, unknownKeys); // 404 and 400 here, before the stream opens
      return streamJob(reply, deps.jobs, (job) => openProject(checked, deps, job));
    },
  );
}

function sceneRoutes(app: App, { scenes }: Pick<Deps, "scenes">): void {
  app.post(
    "/api/project/scene",
    {
      schema: {
        operationId: "stageScene",
        summary: "Stage the scene document of a project",
        tags,
        consumes: ["application/octet-stream"],
        response: { 200: StageSceneResponse },
      },
      config: { rawBody: "PSC1 scene document; the service stores its bytes", problems: [EMPTY, NO_SPACE] },
    },
    async ({ body }) => {
      if (body === undefined || body === null) throw new AppError("invalid_argument", "the scene document is empty");
      return scenes.add(body as AsyncIterable<Uint8Array>);
    },
  );
  app.get(
    "/api/project/scene/:token",
    {
      exposeHeadRoute: false, // it would use up the token
      schema: {
        operationId: "projectScene",
        summary: "Download the scene document of an opened project, once",
        tags,
        params: SceneParams,
      },
      config: {
        responses: {
          200: {
            description: "the document; the token is used up",
            content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
          },
        },
        problems: [NO_TOKEN],
      },
    },
    async ({ params }, reply) => {
      const scene = scenes.take(params.token);
      const file = createReadStream(scene.path, { highWaterMark: 1 << 20 });
      file.once("close", () => void scene.remove()); // also when the client disconnects
      return reply.type("application/octet-stream").header("content-length", scene.bytes).send(file);
    },
  );
}
