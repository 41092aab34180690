import type { Client } from "../../../shared/client/index.ts";
import type { Strings } from "../strings.ts";
import type { Clouds } from "./clouds.ts";
import type { JobRun, Jobs } from "./jobs.ts";
import type { Notices } from "./notices.ts";
import type { Scene } from "./scene.ts";

/** What the desktop app adds to the page. */
export interface DesktopBridge {
  openFiles(): Promise<string[]>;
  saveFile(suggestedName: string): Promise<string | null>;
  pathOfFile(file: File): string;
  onOpenFiles(handler: (paths: string[]) => void): void;
  tellUnsaved(isUnsaved: boolean): void;
}
export const desktopOf = (page: Window): DesktopBridge | undefined =>
  (page as Window & { readonly desktop?: DesktopBridge }).desktop;

export interface OpenParts {
  readonly client: Client;
  readonly clouds: Clouds;
  readonly scene: Scene;
  readonly jobs: Jobs;
  readonly notices: Notices;
  readonly texts: Strings["workflow"];
  readonly openProject: (path: string, run: JobRun) => Promise<{ readonly warnings: readonly string[] }>;
  readonly showAll: () => void;
}

const isProject = (name: string): boolean => /\.proj$/i.test(name);
const baseName = (path: string): string => path.split(/[\\/]/).at(-1) ?? path;

/** Opens a file of the service's machine: a project, or a scan as a new cloud. */
export async function openPath(path: string, parts: OpenParts): Promise<boolean> {
  const name = baseName(path);
  const opened = await parts.jobs.run(parts.texts.open.reading(name), (run) => openAs(path, name, run, parts));
  if (!opened) return false;
  if (opened.warnings.length > 0) parts.notices.add("warning", parts.texts.open.details(name), opened.warnings);
  return true;
}

/** Copies files to the service and opens them, one after another. The copies are removed when they have been read. */
export async function openFiles(files: Iterable<File>, parts: OpenParts, desktop?: DesktopBridge): Promise<void> {
  const { client, jobs, texts } = parts;
  for (const file of files) {
    const local = desktop?.pathOfFile(file);
    if (local) {
      await openPath(local, parts);
      continue;
    }
    const upload = await jobs.run(texts.open.uploading(file.name), ({ signal }) =>
      client.uploadFile(file, file.name, { signal }),
    );
    if (!upload) continue;
    await openPath(upload.path, parts);
    // A copy that stays is swept by the service.
    await client.deleteUpload(upload.upload_id).catch((error: unknown) => console.warn(error));
  }
}

async function openAs(
  path: string,
  name: string,
  run: JobRun,
  { client, clouds, openProject, showAll }: OpenParts,
): Promise<{ readonly warnings: readonly string[] }> {
  if (isProject(name)) return openProject(path, run);
  const created = await client.createSession({ source_path: path }, run);
  const isFirst = clouds.list.value.every(({ octree }) => octree === null);
  await clouds.add(created, name);
  if (isFirst) showAll();
  return { warnings: created.warnings ?? [] };
}
