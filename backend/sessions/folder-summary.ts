import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import * as columnFiles from "../native/core/column-files.ts";
import type { CloudMeta } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import { decodeJournal } from "./journal-codec.ts";
import { replay } from "./journal-records.ts";
import { JOURNAL } from "./session-disk.ts";

/** What a folder tells about its session without opening it. */
export interface FolderSummary {
  readonly meta: CloudMeta | undefined;
  /** Null if that cannot be read. */
  readonly total_count: number | null;
  /** Null if that cannot be read. */
  readonly disk_bytes: number | null;
  /** Time of the last change, milliseconds. */
  readonly changed: number;
}

/** Undefined if the folder is gone. */
export async function folderSummary(folder: string): Promise<FolderSummary | undefined> {
  const info = await stat(folder).catch(ifGone);
  if (!info) return undefined;
  const path = join(folder, JOURNAL);
  const changed = (await stat(path).catch(ifGone))?.mtimeMs ?? info.mtimeMs;
  const replayed = replay(decodeJournal(await readFile(path).catch(() => Buffer.alloc(0))).records); // what is readable of it
  const positions = replayed?.files.get("positions");
  const total_count = positions === undefined ? null : rowsOf(join(folder, positions));
  return { meta: replayed?.meta, total_count, disk_bytes: await bytesOf(folder), changed };
}

function rowsOf(file: string): number | null {
  try {
    const column = new ColumnRef(columnFiles.mapColumnFile(file), file);
    const rows = column.length;
    column.release();
    return rows;
  } catch {
    return null; // damaged or missing: the number is unknown
  }
}

/** Bytes of all files in a folder; null if that cannot be read. */
export async function bytesOf(folder: string): Promise<number | null> {
  let bytes = 0;
  try {
    for (const entry of (await readdir(folder, { withFileTypes: true, recursive: true }).catch(ifGone)) ?? []) {
      if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name)).catch(ifGone))?.size ?? 0;
    }
  } catch {
    return null; // no rights, or a bad disk
  }
  return bytes;
}

/** The name of the file a session was read from. */
export const sourceName = (meta: CloudMeta | undefined): string | null =>
  meta?.source_path ? basename(meta.source_path) : null;

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}
