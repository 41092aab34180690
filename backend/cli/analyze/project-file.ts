import { basename, dirname, resolve } from "node:path";
import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import { AppError } from "../../../shared/errors.ts";
import { encodeScene } from "../../../shared/wire/psc1.ts";
import { OutputFolder } from "./output-folder.ts";
import type { ProjectFile, Run } from "./run.ts";

/** Errors: invalid_argument. */
export function parseProject(text: string): string {
  if (!text.toLowerCase().endsWith(".proj"))
    throw new AppError("invalid_argument", `--project "${text}" must be a file name that ends in .proj`);
  return resolve(text);
}

/** Errors: invalid_argument for a folder that cannot be written to and, without `force`, for a file that is there. */
export async function projectFile(path: string, force: boolean): Promise<ProjectFile> {
  const name = basename(path);
  return { name, folder: await OutputFolder.open(dirname(path), force ? undefined : name, "--project") };
}

/** Saves the analyzed cloud as a project. Returns its warnings. */
export async function saveProject(
  { input, client, project, progress, signal }: Run,
  { session_id, cache_id, miss_octree_cache_id }: CreateSessionTail,
): Promise<readonly string[]> {
  if (!project) return [];
  progress.stage("Saving the project");
  const cloud = {
    sessionId: session_id,
    name: input.name,
    cacheId: cache_id,
    missOctreeCacheId: miss_octree_cache_id ?? null,
  };
  const { token: scene_token } = await client.stageScene(new Uint8Array(encodeScene({ clouds: [cloud] })), { signal });
  const { warnings = [] } = await client.saveProject(
    { path: project.folder.stage(project.name), scene_token, session_ids: [session_id] },
    { signal, onProgress: (step) => progress.update(step.progress, step.message) },
  );
  return warnings;
}
