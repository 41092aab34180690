import { randomBytes } from "node:crypto";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";

/**
 * Creates the folders of sessions and octrees and tries to write there, so that a wrong setting is an error of the
 * start and not of the first import. A full disk is no error: clouds can still be looked at and deleted.
 * Errors: invalid_argument with the folder, the reason and the setting to change.
 */
export async function checkOwnFolders(config: Config): Promise<void> {
  if (config.sessionJournal) await usable(config.dataDir, "data folder", "APP_DATA_DIR");
  await usable(config.octreeCacheRoot, "octree cache", "APP_OCTREE_CACHE_ROOT");
}

async function usable(folder: string, what: string, setting: string): Promise<void> {
  const probe = join(folder, `.probe-${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    await makeFolder(folder);
    await writeFile(probe, "", { flag: "wx" });
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT") return;
    const why = REASONS[code] ?? message;
    throw new AppError(
      "invalid_argument",
      `the ${what} ${folder} cannot be used: ${why}; set ${setting} to a folder that this user may write`,
    );
  } finally {
    await rm(probe, { force: true }).catch(() => undefined); // it was not written
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  EROFS: "the file system is read-only",
  ENOTDIR: "it is, or lies in, a file",
  EEXIST: "it is, or lies in, a file",
  ENOENT: "its parent folder does not take it",
};

/** Creates a folder level by level: mkdir with `recursive` never returns below /proc. */
async function makeFolder(folder: string): Promise<void> {
  const there = await stat(folder).catch(() => undefined);
  if (there?.isDirectory()) return;
  if (there) throw Object.assign(new Error(`${folder} is a file`), { code: "ENOTDIR" });
  if (dirname(folder) !== folder) await makeFolder(dirname(folder));
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error; // another backend was first
  });
}
