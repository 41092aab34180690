import { stat } from "node:fs/promises";
import { AppError } from "../../shared/errors.ts";

const MISSING: readonly unknown[] = ["ENOENT", "not_found"];

/**
 * Runs `work`, which writes to a folder of the session store. Errors: those of `work`; io if it failed because the folder
 * itself is gone, as when its disk was unmounted.
 */
export async function whileThere<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!MISSING.includes((error as { code?: unknown }).code) || (await exists(folder))) throw error;
    throw new AppError(
      "io",
      `The folder ${folder} of the session store is gone: nothing was changed. Bring it or its disk back and try again, or export the cloud to another place.`,
      undefined,
      { cause: error },
    );
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
