import { z } from "zod";
import { OverwriteFile, SessionId, Warnings } from "./fields.ts";

/* Project files: clouds, display octrees and the client's scene in one archive. docs/project-files.md describes it. */

const SceneToken = z.string().describe("token of a staged scene document, 32 hexadecimal digits, for one use");

export const StageSceneResponse = z
  .object({
    token: SceneToken,
    bytes: z.int().describe("length of the document, bytes"),
  })
  .meta({ id: "StageSceneResponse", description: "a scene document that was staged on disk" });
export type StageSceneResponse = z.infer<typeof StageSceneResponse>;

export const SceneParams = z.object({ token: SceneToken });

export const SaveProjectRequest = z
  .object({
    path: z
      .string()
      .min(1)
      .describe("absolute path of the project file, with the extension .proj; its folder must exist"),
    scene_token: z.string().describe("token that /api/project/scene returned; it is used up, whatever the outcome"),
    session_ids: z.array(SessionId).default([]).describe("cloud sessions of the scene; the same id twice counts once"),
    octree_ids: z
      .array(z.string())
      .default([])
      .describe("other octrees that the scene shows, such as that of a cloud whose session is gone"),
    overwrite: OverwriteFile,
  })
  .meta({ id: "SaveProjectRequest" });
export type SaveProjectRequest = z.output<typeof SaveProjectRequest>;

export const SaveProjectTail = z
  .object({
    success: z.literal(true).describe("the project was written"),
    error: z.null().describe("null: success"),
    path: z.string().describe("path of the project file"),
    bytes: z.int().describe("size of the project file, bytes"),
    sessions: z.int().describe("number of cloud sessions written"),
    octrees: z.int().describe("number of display octrees embedded"),
    missing_sessions: z.array(SessionId).describe("requested sessions that are not open; the project lacks them"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "SaveProjectTail", description: "what was written" });
export type SaveProjectTail = z.infer<typeof SaveProjectTail>;

export const OpenProjectRequest = z
  .object({ path: z.string().min(1).describe("absolute path of the project file") })
  .meta({ id: "OpenProjectRequest" });
export type OpenProjectRequest = z.output<typeof OpenProjectRequest>;

export const OpenProjectTail = z
  .object({
    success: z.literal(true).describe("the project is open"),
    error: z.null().describe("null: success"),
    scene_token: z.string().describe("token for GET /api/project/scene/{token}; expires after 3600 s"),
    session_map: z
      .record(z.string(), SessionId)
      .describe("new session id of each id in the file; existing sessions are not touched"),
    octree_map: z
      .record(z.string(), z.string())
      .describe("local octree id of each octree id in the file; one that is absent is built when it is first shown"),
    warnings: Warnings,
    app_version: z.string().describe("version of the program that wrote the file"),
  })
  .meta({ id: "OpenProjectTail", description: "sessions and octrees of the project, under their ids here" });
export type OpenProjectTail = z.infer<typeof OpenProjectTail>;
