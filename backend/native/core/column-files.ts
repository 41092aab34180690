import type { NativeColumn, NativeJob } from "./handles.ts";
import { addonAs } from "./load.ts";

export interface ColumnFilesNative {
  writeColumnFiles(columns: readonly NativeColumn[], paths: readonly string[]): NativeJob<null>;
  syncColumnFile(path: string): NativeJob<null>;
  verifyColumnFile(path: string): NativeJob<boolean>;
  mapColumnFile(path: string): NativeColumn;
  tryLockFile(path: string): (() => void) | null;
}

const addon = addonAs<ColumnFilesNative>();

/** Writes columns to files of the session store, one each; complete for other processes when it resolves. */
export const writeColumnFiles = (columns: readonly NativeColumn[], paths: readonly string[]): NativeJob<null> =>
  addon.writeColumnFiles(columns, paths);
/** Flushes a written column file to the disk. */
export const syncColumnFile = (path: string): NativeJob<null> => addon.syncColumnFile(path);
/** Reads the whole file and compares its checksum. */
export const verifyColumnFile = (path: string): NativeJob<boolean> => addon.verifyColumnFile(path);
/** Maps a column file read-only. Throws `invalid_file` when it is damaged. */
export const mapColumnFile = (path: string): NativeColumn => addon.mapColumnFile(path);
/** An exclusive lock between processes; the system frees it when its holder dies. Null when another holds it. */
export const tryLockFile = (path: string): (() => void) | null => addon.tryLockFile(path);
