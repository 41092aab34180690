import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Why a folder cannot be made or written, by the code of the system's error. */
export const FOLDER_REFUSALS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "it is, or lies in, a file",
  EEXIST: "it is, or lies in, a file",
  ENOENT: "its parent folder does not take it",
};

/** Creates a folder level by level: mkdir with `recursive` never returns below /proc. */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
  const there = await stat(folder).catch(() => undefined);
  if (there?.isDirectory()) return;
  if (there) throw Object.assign(new Error(`${folder} is a file`), { code: "ENOTDIR" });
  if (dirname(folder) !== folder) await makeFolder(dirname(folder), mode);
  await mkdir(folder, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error; // another backend was first
  });
}
