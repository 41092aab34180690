import { rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "../../shared/errors.ts";
import * as columnFiles from "../native/column-files.ts";
import type { CloudMeta, CloudState } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import { Journal, type JournalRecord } from "./journal.ts";
import { claimLease, type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { JOURNAL, LEASE } from "./staged-session.ts";

/** A crashed backend whose window never came back: its sessions are taken over by whoever runs after this long. */
const ORPHAN_AFTER_MS = 24 * 3600 * 1000;

/** Makes a session folder ours when its owner is dead and it is ours to take. */
export async function mayClaim(folder: string, mine: Lease): Promise<boolean> {
  const path = join(folder, LEASE);
  const owner = await readLease(path);
  if (owner && leaseAlive(owner)) return false;
  if (owner && owner.instance !== mine.instance) {
    const { mtimeMs } = await stat(join(folder, JOURNAL));
    if (Date.now() - mtimeMs < ORPHAN_AFTER_MS) return false; // its own window may still come back for it
  }
  return claimLease(path, mine);
}

export interface RecoveredSession {
  readonly journal: Journal;
  readonly state: CloudState;
  /** Column files that may not be on the disk yet. */
  readonly unsynced: readonly string[];
}

/** The state a session folder holds: the journal replayed, the columns mapped (verified while not known to be flushed). */
export async function readSessionFolder(folder: string): Promise<RecoveredSession> {
  const { journal, records } = await Journal.recover(join(folder, JOURNAL));
  const columns = new Map<string, ColumnRef>();
  try {
    const { files, meta, synced } = replay(records);
    for (const [key, file] of files) {
      const path = join(folder, file);
      if (!synced && !(await columnFiles.verifyColumnFile(path).promise)) {
        throw new AppError("invalid_file", `column ${key} is damaged`);
      }
      columns.set(key, new ColumnRef(columnFiles.mapColumnFile(path)));
    }
    checkLengths(columns);
    return { journal, state: { columns, meta }, unsynced: synced ? [] : [...files.values()] };
  } catch (error) {
    for (const column of columns.values()) column.release();
    await journal.close();
    throw error;
  }
}

/** Every column has a value per point. */
function checkLengths(columns: ReadonlyMap<string, ColumnRef>): void {
  const rows = columns.get("positions")?.length;
  if (rows === undefined) throw new AppError("invalid_file", "the session has no positions");
  for (const [key, { length }] of columns) {
    if (length !== rows)
      throw new AppError("invalid_file", `column ${key} has ${length} rows, the cloud has ${rows} points`);
  }
}

/** Keeps a folder that cannot be recovered for a person to look at, out of the way of the next start. */
export const setAside = (folder: string): Promise<void> => rename(folder, `${folder}.${Date.now()}.damaged`);

function replay(records: readonly JournalRecord[]) {
  const first = records[0];
  if (first?.type !== "create") throw new AppError("invalid_file", "the journal does not begin with a create record");
  const files = new Map<string, string>(Object.entries(first.columns));
  let meta: CloudMeta = first.meta;
  let synced = false;
  for (const record of records.slice(1)) {
    if (record.type === "synced") synced = true;
    if (record.type !== "commit") continue;
    meta = { ...meta, ...record.meta };
    for (const [key, file] of Object.entries(record.columns)) {
      if (file === null) files.delete(key);
      else files.set(key, file);
    }
  }
  return { files, meta, synced };
}
