import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { remove, rename } from "../file-moves.ts";
import * as columnFiles from "../native/core/column-files.ts";
import { type CloudState, ownedColumns } from "./cloud-session.ts";
import { Journal, type JournalContents, readJournal } from "./journal.ts";
import { namedFiles, neededFiles, wholeCounts } from "./journal-files.ts";
import { type JournalRecord, type ReplayedJournal, replay } from "./journal-records.ts";
import { claimLease, isSame, type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { loadState } from "./recovered-state.ts";
import { asideOf, keepJournal, lossOf, moveLost } from "./recovery-loss.ts";
import { JOURNAL, removeFolder, SessionDisk } from "./session-disk.ts";
import { LEASE } from "./staged-session.ts";

/** Losses that a session remembers, the latest. */
const MAX_LOSSES = 10;
/** After this time, any backend may take over the sessions of a crashed one that was not restarted. */
export const ORPHAN_AFTER_MS = 24 * 3600 * 1000;

/** Whether this backend may write to a session folder, or who else may. */
export type Claim = "claimed" | "in use" | "of another window";

/** Claims a session folder whose owner is dead, unless its own window may still restart it. */
export async function claimFolder(folder: string, mine: Lease): Promise<Claim> {
  const path = join(folder, LEASE);
  const owner = await readLease(path);
  if (owner && leaseAlive(owner)) return isSame(owner, mine) ? "claimed" : "in use";
  if (owner && owner.instance !== mine.instance) {
    const { mtimeMs } = await stat(join(folder, JOURNAL));
    if (Date.now() - mtimeMs < ORPHAN_AFTER_MS) return "of another window";
  }
  return (await claimLease(path, mine)) ? "claimed" : "in use";
}

/** Removes a folder, also without a claim, for which a full disk has no space. Errors: conflict; any of the disk. */
export async function removeUnowned(folder: string, mine: Lease): Promise<void> {
  const path = join(folder, LEASE);
  const owner = await readLease(path);
  const taken =
    owner && leaseAlive(owner) ? !isSame(owner, mine) : (await claimLease(path, mine).catch(() => undefined)) === false; // a full disk is no obstacle
  if (taken) throw new AppError("conflict", "another backend has opened this cloud meanwhile");
  await removeFolder(folder);
}

/** What a session folder holds. The state owns its columns. */
export interface ReadSession {
  readonly contents: JournalContents;
  /** Number of records that lead to the state. */
  readonly count: number;
  readonly replayed: ReplayedJournal;
  readonly state: Omit<CloudState, "version">;
  /** What damage on the disk has lost, a sentence for the user; undefined if every acknowledged change is there. */
  readonly loss: string | undefined;
  /** Time of the last change, milliseconds. */
  readonly changed: number;
  /** Files of the state that were mapped without being compared with their checksums. */
  readonly unproven: readonly string[];
}

/**
 * Reads the state in a session folder and writes nothing: replays the journal, maps the columns (verified unless known to
 * be flushed) and computes mask and painted labels from the undo state. Damage ends the replay before it: the state is the
 * last one that can be read whole, and `loss` says what is missing. Undefined for a child whose parent never committed
 * it, such as half of an unfinished split. With `verifyAll` no file is trusted. Errors: invalid_file, not_found.
 */
export async function readSession(folder: string, verifyAll = false): Promise<ReadSession | undefined> {
  const { mtimeMs } = await stat(join(folder, JOURNAL));
  const contents = await readJournal(join(folder, JOURNAL));
  const whole = replay(contents.records);
  if (!whole) throw new AppError("invalid_file", "the journal does not begin with a create record");
  // The confirmation may be among what is damaged: in doubt, no data is removed.
  if (!contents.damage && !(await wasBorn(folder, whole))) return undefined;
  const { count, replayed, state } = await lastReadable(folder, contents.records, whole, verifyAll);
  const loss = lossOf(contents, count);
  const unproven = verifyAll ? [] : neededFiles(replayed).filter((file) => !replayed.unsynced.has(file));
  const read = { contents, count, replayed, loss, changed: mtimeMs, unproven };
  if (loss === undefined) return { ...read, state };
  const recovery_losses = [...(state.meta.recovery_losses ?? []), loss].slice(-MAX_LOSSES);
  return { ...read, state: { ...state, meta: { ...state.meta, recovery_losses } } };
}

/** Frees the columns of a session that was read. */
export function releaseSession({ state }: Pick<ReadSession, "state">): void {
  for (const column of ownedColumns(state)) column.release();
}

/**
 * Opens a session that was read for edits: cuts off a torn tail; keeps damaged files and says so in a new journal.
 * Requires the claim. A failure leaves a folder that can be read again.
 */
export async function openSession(folder: string, read: ReadSession, log: Logger): Promise<SessionDisk> {
  const { contents, count, replayed, loss } = read;
  const names = await readdir(folder);
  const { unsynced, births } = replayed;
  const aside = loss === undefined ? undefined : asideOf(folder);
  const journal = await openJournal(folder, read, aside);
  const disk = new SessionDisk(folder, journal, log, { next: nextFileNumber(names), unsynced, births });
  try {
    if (aside !== undefined) await moveLost(folder, aside, contents, count);
    if (replayed.birth) await journal.append({ type: "confirmed" });
    for (const name of names.filter(isUnfinished)) await remove(join(folder, name));
  } catch (error) {
    await disk.close();
    throw error;
  }
  return disk;
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
  verifyAll: boolean,
): Promise<Readable> {
  try {
    return { count: records.length, replayed: whole, state: await loadState(folder, whole, verifyAll) };
  } catch (error) {
    if (!isDamage(error) && !isRefused(error)) throw error;
    const damaged = await damagedFiles(folder, records);
    if (damaged.size === 0 && !isDamage(error)) throw error;
    for (const count of wholeCounts(records, damaged)) {
      const replayed = replay(records.slice(0, count)) as ReplayedJournal; // the first record is a create record
      const state = await loadState(folder, replayed, verifyAll).catch(ifDamage);
      if (state) return { count, replayed, state };
    }
    throw error;
  }
}

/** Files of the records that are missing or whose checksum differs. */
async function damagedFiles(folder: string, records: readonly JournalRecord[]): Promise<Set<string>> {
  const files = [...namedFiles(records)];
  const damaged = await columnFiles.damagedColumnFiles(files.map((file) => join(folder, file))).promise;
  return new Set(damaged.map((i) => files[i] as string));
}

/** True if the files are damaged; false if only the attempt to read them failed. */
export function isDamage(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "invalid_file" || code === "not_found" || code === "ENOENT";
}

/** True if values read from a file make no sense, such as rows of a mask beyond the last one. */
const isRefused = (error: unknown): boolean => (error as { code?: string }).code === "invalid_argument";

function ifDamage(error: unknown): undefined {
  if (!isDamage(error)) throw error;
}

/** Opens the journal. After a loss it is a new one, which says so; the damaged one is kept in the folder `aside`. */
async function openJournal(folder: string, read: ReadSession, aside: string | undefined): Promise<Journal> {
  const path = join(folder, JOURNAL);
  const { contents, count, state } = read;
  if (aside === undefined) return Journal.open(path, contents);
  try {
    await keepJournal(folder, aside);
    const { recovery_losses } = state.meta;
    return await Journal.rewrite(path, contents, count, {
      type: "commit",
      columns: {},
      meta: { recovery_losses: recovery_losses ?? [] },
    });
  } catch (error) {
    const untouched = contents.bytes.equals(await readFile(path));
    if (untouched) await remove(aside); // else it holds the only copy
    throw error;
  }
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

/** Renames a folder that cannot be recovered: it stays for inspection. Returns the new path. */
export async function setAside(folder: string): Promise<string> {
  const aside = `${folder}.${Date.now()}.damaged`;
  await rename(folder, aside);
  return aside;
}

function nextFileNumber(names: string[]): number {
  return 1 + Math.max(-1, ...names.map((name) => Number(/^(\d+)\.col$/.exec(name)?.[1] ?? -1)));
}
