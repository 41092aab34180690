import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import type { Config } from "../config.ts";
import { FOLDER_REFUSALS, makeFolder } from "../make-folder.ts";

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
    await makeFolder(folder, 0o700);
    await writeFile(probe, "", { flag: "wx" });
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOSPC" || code === "EDQUOT") return;
    const why = FOLDER_REFUSALS[code] ?? message;
    throw new AppError(
      "invalid_argument",
      `the ${what} ${folder} cannot be used: ${why}; set ${setting} to a folder that this user may write`,
    );
  } finally {
    await rm(probe, { force: true }).catch(() => undefined); // it was not written
  }
}
