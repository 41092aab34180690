import type { z } from "zod";
import type { Client } from "../../../shared/client/index.ts";
import type { SaveProjectRequest, SaveProjectTail } from "../../../shared/contract/project.ts";
import { isPlainObject } from "../../../shared/wire/bytes.ts";
import { encodeScene } from "../../../shared/wire/psc1.ts";
import { decodeScene } from "../../../shared/wire/psc1-decode.ts";
import type { Strings } from "../strings.ts";
import type { CloudView, Colouring } from "../view/cloud-view.ts";
import type { Clouds } from "./clouds.ts";
import type { JobRun } from "./jobs.ts";
import type { ObjectSource, Scene, TreeList } from "./scene.ts";
import type { UnsavedWork } from "./unsaved-work.ts";

/* The window's part of a project file: names and visibility of the clouds, what else is shown, the tree list. */

const FORMAT = "point-cloud-window";
const VERSION = 1;

interface SceneDocument {
  readonly format: typeof FORMAT;
  readonly version: number;
  readonly clouds: readonly { readonly session_id: string; readonly name: string; readonly is_visible: boolean }[];
  readonly colouring: Colouring;
  readonly objects: readonly ObjectSource[];
  readonly trees: TreeList | null;
}

export interface ProjectParts {
  readonly client: Client;
  readonly view: CloudView;
  readonly clouds: Clouds;
  readonly scene: Scene;
  readonly texts: Strings["workflow"];
  readonly run: JobRun;
}

/** Saves every cloud that is shown. Work is saved when no cloud is left out. */
export async function saveProject(
  { path, overwrite }: Pick<z.input<typeof SaveProjectRequest>, "path" | "overwrite">,
  { client, view, clouds, scene, unsaved, run }: ProjectParts & { readonly unsaved: UnsavedWork },
): Promise<SaveProjectTail> {
  const isSaved = unsaved.saving();
  const isWhole = clouds.list.value.every(({ octree }) => octree !== null);
  const saved = clouds.list.value.filter(({ octree }) => octree !== null);
  const document: SceneDocument = {
    format: FORMAT,
    version: VERSION,
    clouds: saved.map(({ session_id, name, is_visible }) => ({ session_id, name, is_visible })),
    colouring: view.colouring(),
    objects: scene.objects.value.map(({ source }) => source).filter(({ kind }) => kind === "qsm" || kind === "plant"),
    trees: scene.trees.value,
  };
  const bytes = new Uint8Array(encodeScene(document));
  const { token } = await client.stageScene(bytes, { signal: run.signal });
  const session_ids = saved.map(({ session_id }) => session_id);
  const answer = await client.saveProject(
    { path, scene_token: token, session_ids, overwrite: overwrite ?? false },
    run,
  );
  if (isWhole && answer.missing_sessions.length === 0) isSaved();
  return answer;
}

/** Opens a project beside what is open. */
export async function openProject(
  path: string,
  parts: ProjectParts,
): Promise<{ readonly opened: number; readonly warnings: readonly string[] }> {
  const { client, clouds, view, texts, run } = parts;
  const answer = await client.openProject({ path }, run);
  const value = decodeScene(await client.projectScene(answer.scene_token, { signal: run.signal }));
  const document = isSceneDocument(value) ? value : null;
  const warnings = [...answer.warnings, ...(document ? [] : [texts.operations.open.foreign])];
  const here = (id: string): string | undefined => answer.session_map[id];
  await clouds.refresh();
  for (const { session_id, name } of document?.clouds ?? []) {
    const id = here(session_id);
    if (id !== undefined) clouds.change(id, { name });
  }
  for (const id of Object.values(answer.session_map)) await clouds.show(id);
  for (const { session_id, is_visible } of document?.clouds ?? []) {
    const id = here(session_id);
    if (id !== undefined && !is_visible) clouds.setVisible(id, false);
  }
  if (document) {
    restoreObjects(document.objects, parts);
    const list = here(document.trees?.session_id ?? "");
    if (document.trees && list !== undefined) parts.scene.trees.set({ ...document.trees, session_id: list });
    view.setColouring(document.colouring);
  }
  view.fit();
  return { opened: Object.keys(answer.session_map).length, warnings };
}

function restoreObjects(objects: readonly ObjectSource[], { scene, view }: ProjectParts): void {
  for (const source of objects) {
    if (source.kind === "qsm") scene.add(source, view.addQsm(source));
    if (source.kind === "plant") {
      const { name, meta, buffers } = source;
      const first = meta.prototype_first_triangle;
      const plant = { name, origin: meta.origin ?? ([0, 0, 0] as const), buffers };
      scene.add(
        source,
        view.addPlant({ ...plant, origin: [...plant.origin], ...(first ? { prototype_first_triangle: first } : {}) }),
      );
    }
  }
}

const isSceneDocument = (value: unknown): value is SceneDocument =>
  isPlainObject(value) && value.format === FORMAT && value.version === VERSION;
