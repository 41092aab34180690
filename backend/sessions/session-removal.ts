import type { Logger } from "pino";
import { SessionDisk, syncFolder } from "./session-disk.ts";
import type { Stored } from "./stored-session.ts";

/**
 * Closes sessions and removes their folders. All folders are renamed before the first file is removed: a stop that is
 * killed meanwhile leaves files, but no session. Failures are logged.
 */
export async function removeAll(stored: readonly Stored[], root: string | null, log: Logger): Promise<void> {
  for (const { session } of stored) session.close();
  const removals = await ended(
    stored.map(async ({ disk }) => (disk instanceof SessionDisk ? disk.retire() : () => disk?.destroy())),
    log,
  );
  if (root !== null && stored.length > 0) await ended([syncFolder(root)], log);
  await ended(
    removals.map((remove) => remove?.()),
    log,
  );
}

/** The results of work on folders to remove. */
async function ended<T>(work: readonly (Promise<T> | undefined)[], log: Logger): Promise<(T | undefined)[]> {
  const ends = await Promise.allSettled(work);
  for (const end of ends)
    if (end.status === "rejected") log.error({ err: end.reason }, "a session's folder was not removed");
  return ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
}
