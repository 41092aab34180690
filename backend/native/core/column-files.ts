import type { NativeColumn, NativeJob } from "./handles.ts";
import { addonAs } from "./load.ts";

export interface ColumnFilesNative {
  writeColumnFiles(columns: readonly NativeColumn[], paths: readonly string[]): NativeJob<null>;
  syncColumnFile(path: string): NativeJob<null>;
  damagedColumnFiles(paths: readonly string[]): NativeJob<number[]>;
  columnChecksum(column: NativeColumn, path: string | null): NativeJob<string>;
  mapColumnFile(path: string): NativeColumn;
  tryLockFile(path: string): (() => void) | null;
}

const addon = addonAs<ColumnFilesNative>();

/** Writes each column to a file of the session store; other processes see complete files when it resolves. */
export const writeColumnFiles = (columns: readonly NativeColumn[], paths: readonly string[]): NativeJob<null> =>
  addon.writeColumnFiles(columns, paths);
/** Flushes a written column file to the disk. */
export const syncColumnFile = (path: string): NativeJob<null> => addon.syncColumnFile(path);
/** Reads the files whole; the numbers of those that are missing or differ from their checksum. */
export const damagedColumnFiles = (paths: readonly string[]): NativeJob<number[]> => addon.damagedColumnFiles(paths);
/**
 * Checksum of the values, 16 hex digits: the same in memory and in a file. `path`: the column's file, of which only the
 * header is read; null = none.
 */
export const columnChecksum = (column: NativeColumn, path: string | null): NativeJob<string> =>
  addon.columnChecksum(column, path);
/** Maps a column file read-only. Errors: invalid_file if it is damaged. */
export const mapColumnFile = (path: string): NativeColumn => addon.mapColumnFile(path);
/** Takes an exclusive lock between processes and returns its release; null if another process holds it. The system
 * releases it when the holder dies. */
export const tryLockFile = (path: string): (() => void) | null => addon.tryLockFile(path);
