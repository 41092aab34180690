import { readdir, realpath, stat } from "node:fs/promises";
import { extname, join, resolve } from "node:path";
import { AppError } from "../../../shared/errors.ts";
import type { SkippedFile } from "./document.ts";

const READ = [".las", ".laz"];
/** Point clouds whose extent no header declares, or not in true world coordinates. */
const WITHOUT_EXTENT = [".e57", ".ptx", ".pts", ".ply", ".pcd", ".xyz", ".txt", ".csv", ".tsv", ".asc"];

export interface FoundFiles {
  /** Absolute, links resolved, by path. */
  readonly paths: readonly string[];
  readonly skipped: readonly SkippedFile[];
}

/**
 * The LAS and LAZ files among `inputs` and in the folders among them, at any depth. A file that is reached twice counts once.
 * Errors: not_found; invalid_argument without any LAS or LAZ file.
 */
export async function findFiles(inputs: readonly string[], signal: AbortSignal): Promise<FoundFiles> {
  const paths = new Set<string>();
  const skipped = new Map<string, SkippedFile>();
  const add = async (path: string) => {
    const extension = extname(path).toLowerCase();
    if (READ.includes(extension)) {
      const real = await realpath(path).catch((cause: NodeJS.ErrnoException) => cause);
      if (typeof real === "string") paths.add(real);
      else skipped.set(path, { path, reason: `cannot be read (${real.code ?? real.message})` });
    } else if (WITHOUT_EXTENT.includes(extension)) skipped.set(path, { path, reason: unsupported(extension) });
    else return false;
    return true;
  };
  for (const input of inputs) {
    const path = resolve(input);
    const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
      throw new AppError("not_found", `"${input}" cannot be read (${cause.code ?? cause.message})`);
    });
    const leave = (place: string, reason: string) => void skipped.set(place, { path: place, reason });
    if (found.isDirectory()) for await (const file of filesIn(path, leave, signal)) await add(file);
    else if (!(await add(path)))
      throw new AppError("invalid_argument", `"${input}" is no point cloud file; a catalogue takes LAS and LAZ`);
  }
  if (paths.size === 0) {
    const [first] = skipped.values();
    const seen = first ? ` (${skipped.size} left out; ${first.path}: ${first.reason})` : "";
    throw new AppError("invalid_argument", `there is no LAS or LAZ file in ${inputs.join(", ")}${seen}`);
  }
  const byPath = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return { paths: [...paths].sort(byPath), skipped: [...skipped.values()].sort((a, b) => byPath(a.path, b.path)) };
}

const unsupported = (extension: string) =>
  `${extension.slice(1).toUpperCase()} files declare no extent in true world coordinates; convert the file to LAZ`;

async function* filesIn(
  folder: string,
  leave: (path: string, reason: string) => void,
  signal: AbortSignal,
): AsyncGenerator<string> {
  signal.throwIfAborted();
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: NodeJS.ErrnoException) => {
    leave(folder, `the folder cannot be read (${cause.code ?? cause.message})`);
    return [];
  });
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const isFolderLink =
      entry.isSymbolicLink() &&
      (await stat(path).then(
        (target) => target.isDirectory(),
        () => false,
      ));
    if (isFolderLink) leave(path, "a link to a folder is not followed; name the folder itself");
    else if (entry.isDirectory()) yield* filesIn(path, leave, signal);
    else if (entry.isFile() || entry.isSymbolicLink()) yield path;
  }
}
