import * as fs from "node:fs/promises";

/**
 * Renaming and removing as Windows needs it: it refuses to rename or remove what any process has open or mapped, a file
 * that is replaced and a folder with such a file included. Virus scanners and indexers open new files for moments, so a
 * refusal is met with patience. Elsewhere both are the plain calls.
 */
export const system = { refusesFilesInUse: process.platform === "win32" };

const WAITS_MS = [10, 20, 50, 100, 200, 400, 800];
const REFUSALS: ReadonlySet<unknown> = new Set(["EPERM", "EACCES", "EBUSY", "ENOTEMPTY"]);

/** True if the system refused because a file is in use, as far as its error tells. */
export const isInUse = (error: unknown): boolean =>
  system.refusesFilesInUse && REFUSALS.has((error as NodeJS.ErrnoException).code);

async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (const ms of WAITS_MS) {
    try {
      return await act();
    } catch (error) {
      if (!isInUse(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
  return act();
}

/** Renames a file or folder; a file of the new name is replaced. */
export const rename = (from: string, to: string): Promise<void> => patiently(() => fs.rename(from, to));

/** Removes a file or a folder with what it contains; nothing if it does not exist. */
export const remove = (path: string): Promise<void> => patiently(() => fs.rm(path, { recursive: true, force: true }));
