import { addon, type NativeColumn } from "./addon.ts";
import type { NativeJob } from "./native-job.ts";

/** Writes a column to a file of the session store; complete for other processes when it resolves. */
export const writeColumnFile = (column: NativeColumn, path: string): NativeJob<null> =>
  addon.writeColumnFile(column, path);
/** Flushes a written column file to the disk. */
export const syncColumnFile = (path: string): NativeJob<null> => addon.syncColumnFile(path);
/** Reads the whole file and compares its checksum. */
export const verifyColumnFile = (path: string): NativeJob<boolean> => addon.verifyColumnFile(path);
/** Maps a column file read-only. Throws `invalid_file` when it is damaged. */
export const mapColumnFile = (path: string): NativeColumn => addon.mapColumnFile(path);
/** An exclusive lock between processes; the system frees it when its holder dies. Null when another holds it. */
export const tryLockFile = (path: string): (() => void) | null => addon.tryLockFile(path);
