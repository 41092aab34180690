import { readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import * as columnFiles from "../native/core/column-files.ts";
import { type CloudState, ownedColumns } from "./cloud-session.ts";
import { Journal, type JournalContents, readJournal } from "./journal.ts";
import { namedFiles, wholeCounts } from "./journal-files.ts";
import { type JournalRecord, type ReplayedJournal, replay } from "./journal-records.ts";
import { claimLease, type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { loadState } from "./recovered-state.ts";
import { asideOf, keepJournal, lossOf, moveLost } from "./recovery-loss.ts";
import { JOURNAL, SessionDisk } from "./session-disk.ts";
import { LEASE } from "./staged-session.ts";

/** Losses that a session remembers, the latest. */
const MAX_LOSSES = 10;
/** After this time, any backend may take over the sessions of a crashed one that was not restarted. */
const ORPHAN_AFTER_MS = 24 * 3600 * 1000;

/** Claims a session folder whose owner is dead. False if it lives, or if its own window may still restart it. */
export async function mayClaim(folder: string, mine: Lease): Promise<boolean> {
  const path = join(folder, LEASE);
  const owner = await readLease(path);
  if (owner && leaseAlive(owner)) return false;
  if (owner && owner.instance !== mine.instance) {
    const { mtimeMs } = await stat(join(folder, JOURNAL));
    if (Date.now() - mtimeMs < ORPHAN_AFTER_MS) return false; // its own window may still restart it
  }
  return claimLease(path, mine);
}

export interface RecoveredSession {
  readonly disk: SessionDisk;
  readonly state: Omit<CloudState, "version">;
  /** What damage on the disk has lost, a sentence for the user; undefined if every acknowledged change is there. */
  readonly loss: string | undefined;
}

/**
 * Reads the state in a session folder: replays the journal, maps the columns (verified unless known to be flushed) and
 * computes mask and painted labels from the undo state. Damage ends the replay before it: the state is the last one that
 * can be read whole, the damaged files are kept, and `loss` says what is missing. Undefined for a child whose parent
 * never committed it, such as half of an unfinished split. Errors: invalid_file, not_found; then nothing has changed.
 */
export async function readSessionFolder(folder: string, log: Logger): Promise<RecoveredSession | undefined> {
  const contents = await readJournal(join(folder, JOURNAL));
  const whole = replay(contents.records);
  if (!whole) throw new AppError("invalid_file", "the journal does not begin with a create record");
  // The confirmation may be among what is damaged: in doubt, no data is removed.
  if (!contents.damage && !(await wasBorn(folder, whole))) return undefined;
  const { count, replayed, state } = await lastReadable(folder, contents.records, whole);
  try {
    const names = await readdir(folder);
    const loss = lossOf(contents, count);
    const { unsynced, births } = replayed;
    const lost = loss === undefined ? undefined : { loss, aside: asideOf(folder) };
    const { journal, meta } = await openJournal(folder, contents, count, state.meta, lost);
    const disk = new SessionDisk(folder, journal, log, { next: nextFileNumber(names), unsynced, births });
    try {
      if (lost) await moveLost(folder, lost.aside, contents, count);
      if (replayed.birth) await journal.append({ type: "confirmed" });
      for (const name of names.filter(isUnfinished)) await rm(join(folder, name), { force: true });
    } catch (error) {
      await disk.close();
      throw error;
    }
    return { disk, state: { ...state, meta }, loss };
  } catch (error) {
    for (const column of ownedColumns(state)) column.release();
    throw error;
  }
}

interface Readable {
  /** Number of records that lead to the state. */
  readonly count: number;
  readonly replayed: ReplayedJournal;
  readonly state: Omit<CloudState, "version">;
}

/** The last state whose files are whole. Errors: those of the whole journal's state, if there is none. */
async function lastReadable(
  folder: string,
  records: readonly JournalRecord[],
  whole: ReplayedJournal,
): Promise<Readable> {
  try {
    return { count: records.length, replayed: whole, state: await loadState(folder, whole) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    for (const count of wholeCounts(records, await damagedFiles(folder, records))) {
      const replayed = replay(records.slice(0, count)) as ReplayedJournal; // the first record is a create record
      const state = await loadState(folder, replayed).catch(ifDamage);
      if (state) return { count, replayed, state };
    }
    throw error;
  }
}

/** Files of the records that are missing or whose checksum differs. */
async function damagedFiles(folder: string, records: readonly JournalRecord[]): Promise<Set<string>> {
  const damaged = new Set<string>();
  for (const file of namedFiles(records)) {
    const intact = await columnFiles.verifyColumnFile(join(folder, file)).promise.catch(ifDamage);
    if (!intact) damaged.add(file);
  }
  return damaged;
}

/** True if the files are damaged; false if only the attempt to read them failed. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "invalid_file" || code === "not_found" || code === "ENOENT";
}

function ifDamage(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

/** What is lost, and the folder for what is damaged. */
interface Lost {
  readonly loss: string;
  readonly aside: string;
}

/** Opens the journal. After a loss it is a new one, which says so; the damaged one is kept. */
async function openJournal(
  folder: string,
  contents: JournalContents,
  count: number,
  meta: CloudState["meta"],
  lost: Lost | undefined,
) {
  const path = join(folder, JOURNAL);
  if (!lost) return { journal: await Journal.open(path, contents), meta };
  const recovery_losses = [...(meta.recovery_losses ?? []), lost.loss].slice(-MAX_LOSSES);
  await keepJournal(folder, lost.aside);
  const notice: JournalRecord = { type: "commit", columns: {}, meta: { recovery_losses } };
  const journal = await Journal.rewrite(path, contents, count, notice);
  return { journal, meta: { ...meta, recovery_losses } };
}

/** True for a lease or journal that was being written when its process died. */
const isUnfinished = (name: string): boolean => /\.(tmp|new)$/.test(name);

/**
 * Whether the parent committed this child. True if the parent is gone or its journal was damaged: in doubt, no data is
 * removed.
 */
async function wasBorn(folder: string, { birth }: ReplayedJournal): Promise<boolean> {
  if (!birth) return true;
  const parent = await readJournal(join(dirname(folder), birth.parent, JOURNAL)).catch(() => undefined);
  const replayed = parent && !parent.damage ? replay(parent.records) : undefined;
  return !replayed || replayed.births.has(birth.token) || replayed.meta.recovery_losses !== undefined;
}

/** Renames a folder that cannot be recovered: it stays for inspection, and the next start ignores it. */
export const setAside = (folder: string): Promise<void> => rename(folder, `${folder}.${Date.now()}.damaged`);

function nextFileNumber(names: string[]): number {
  return 1 + Math.max(-1, ...names.map((name) => Number(/^(\d+)\.col$/.exec(name)?.[1] ?? -1)));
}
