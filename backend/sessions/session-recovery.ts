import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import * as edits from "../native/cloud/edit.ts";
import { addon } from "../native/core/addon.ts";
import * as columnFiles from "../native/core/column-files.ts";
import type { NativeColumn } from "../native/core/handles.ts";
import { type CloudState, META_DEFAULTS } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import { decodeJournal, Journal } from "./journal.ts";
import {
  type CompactedGeneration,
  type Generation,
  type LabelAction,
  type LabelRecord,
  type ReplayedJournal,
  type RowSetRecord,
  replay,
  undoFiles,
} from "./journal-records.ts";
import { claimLease, type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { JOURNAL, SessionDisk } from "./session-disk.ts";
import { LEASE } from "./staged-session.ts";
import { type LabelDelta, MOVED_KEYS, type RowSet, type UndoState } from "./undo.ts";

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
}

/**
 * Reads the state in a session folder: replays the journal, maps the columns (verified unless known to be flushed) and
 * computes mask and painted labels from the undo state. Undefined for a child whose parent never committed it, such as
 * half of an unfinished split. Errors: invalid_file, not_found.
 */
export async function readSessionFolder(folder: string, log: Logger): Promise<RecoveredSession | undefined> {
  const { journal, records } = await Journal.recover(join(folder, JOURNAL));
  const files = new FileColumns(folder);
  try {
    const replayed = replay(records);
    if (!replayed) throw new AppError("invalid_file", "the journal does not begin with a create record");
    if (!(await wasBorn(folder, replayed))) {
      await journal.close();
      return undefined;
    }
    if (replayed.birth) await journal.append({ type: "confirmed" });
    const state = await loadState(files, replayed);
    const names = await readdir(folder);
    for (const name of names.filter(isUnfinished)) await rm(join(folder, name), { force: true });
    const next = nextFileNumber(names);
    const disk = new SessionDisk(folder, journal, log, { next, unsynced: replayed.unsynced, births: replayed.births });
    return { disk, state };
  } catch (error) {
    files.release();
    await journal.close();
    throw error;
  }
}

/** True for a lease or journal that was being written when its process died. */
const isUnfinished = (name: string): boolean => /\.(tmp|new)$/.test(name);

/** Whether the parent committed this child. True if the parent is gone: in doubt, no data is removed. */
async function wasBorn(folder: string, { birth }: ReplayedJournal): Promise<boolean> {
  if (!birth) return true;
  const parent = join(dirname(folder), birth.parent, JOURNAL);
  const bytes = await readFile(parent).catch(() => undefined);
  const journal = bytes && replay(decodeJournal(bytes).records);
  return !journal || journal.births.has(birth.token);
}

/** Maps column files, each once. */
class FileColumns {
  readonly #columns = new Map<string, ColumnRef>();
  readonly #made: ColumnRef[] = [];
  constructor(readonly folder: string) {}

  async open(file: string, verify: boolean): Promise<ColumnRef> {
    const known = this.#columns.get(file);
    if (known) return known;
    const path = join(this.folder, file);
    if (verify && !(await columnFiles.verifyColumnFile(path).promise)) {
      throw new AppError("invalid_file", `${file} is damaged`);
    }
    const column = new ColumnRef(columnFiles.mapColumnFile(path), path);
    this.#columns.set(file, column);
    return column;
  }
  /** Registers a computed column, to release it if it is not kept. */
  keep(column: ColumnRef): ColumnRef {
    this.#made.push(column);
    return column;
  }
  /** Releases all columns that are not `wanted`. */
  keepOnly(wanted: ReadonlySet<ColumnRef>): void {
    for (const column of [...this.#columns.values(), ...this.#made]) if (!wanted.has(column)) column.release();
  }
  release(): void {
    this.keepOnly(new Set());
  }
}

async function loadState(files: FileColumns, replayed: ReplayedJournal): Promise<Omit<CloudState, "version">> {
  const { unsynced } = replayed;
  const open = (file: string) => files.open(file, unsynced.has(file));
  for (const file of undoFiles(replayed.undo)) await open(file);
  const columns = await loadColumns(replayed, files, open);
  const rows = rowCount(columns);
  const undo = await loadUndo(replayed, open);
  if (replayed.mask_is_stale) {
    columns.delete("deleted");
    if (undo.base || undo.deletes.length > 0) columns.set("deleted", await maskOf(undo, rows, files));
  }
  checkLengths(columns, rows);
  const wanted = new Set([...columns.values()]);
  for (const file of undoFiles(replayed.undo)) wanted.add(await open(file));
  files.keepOnly(wanted);
  return { columns, undo, meta: { ...META_DEFAULTS, ...replayed.meta } };
}

type Open = (file: string) => Promise<ColumnRef>;

/** The columns of a generation: those left by the previous compaction, replaced by files, then painted and moved. */
async function loadColumns(gen: Generation, files: FileColumns, open: Open): Promise<Map<string, ColumnRef>> {
  const columns = gen.before ? await compacted(gen.before, files, open) : new Map<string, ColumnRef>();
  for (const key of gen.gone) columns.delete(key);
  for (const [key, file] of gen.files) columns.set(key, await open(file));
  const rows = rowCount(columns);
  for (const [slug, actions] of gen.redo) {
    const key = `extra/${slug}`;
    columns.set(key, await repaint(columns.get(key), actions, rows, files, open));
  }
  for (const key of MOVED_KEYS) {
    const column = columns.get(key);
    if (column) columns.set(key, await moved(column, gen.moves, files));
  }
  return columns;
}

function rowCount(columns: ReadonlyMap<string, ColumnRef>): number {
  const rows = columns.get("positions")?.length;
  if (rows === undefined) throw new AppError("invalid_file", "the session has no positions");
  return rows;
}

/** The columns of a generation without the dropped rows. */
async function compacted(gen: CompactedGeneration, files: FileColumns, open: Open): Promise<Map<string, ColumnRef>> {
  const columns = await loadColumns(gen, files, open);
  columns.delete("deleted");
  const sets = await inOrder(gen.drop, async (rows) => ({ ...rows, data: (await open(rows.file)).native }));
  const mask = files.keep(new ColumnRef(await edits.unionRows(rowCount(columns), null, sets).promise));
  const keys = [...columns.keys()];
  const natives = keys.map((key) => (columns.get(key) as ColumnRef).native);
  const kept = await edits.compactColumns(natives, mask.native).promise;
  return new Map(keys.map((key, i) => [key, files.keep(new ColumnRef(kept[i] as NativeColumn))]));
}

async function loadUndo({ undo }: ReplayedJournal, open: Open): Promise<UndoState> {
  const rowSet = async ({ encoding, count, file }: RowSetRecord): Promise<RowSet> => ({
    encoding,
    count,
    data: await open(file),
  });
  const label = async ({ stroke_id, to_class, rows, previous }: LabelRecord): Promise<LabelDelta> => ({
    stroke_id,
    to_class,
    rows: await rowSet(rows),
    previous: await open(previous),
  });
  const labels = new Map<string, LabelDelta[]>();
  for (const [slug, strokes] of Object.entries(undo.labels)) labels.set(slug, await inOrder(strokes, label));
  return { base: undo.base && (await rowSet(undo.base)), deletes: await inOrder(undo.deletes, rowSet), labels };
}

async function inOrder<T, R>(list: readonly T[], body: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (const item of list) results.push(await body(item));
  return results;
}

const native = (rows: RowSet) => ({ encoding: rows.encoding, count: rows.count, data: rows.data.native });

/** The deletion mask of an undo state. */
async function maskOf({ base, deletes }: UndoState, rows: number, files: FileColumns): Promise<ColumnRef> {
  const sets = [...(base ? [base] : []), ...deletes].map(native);
  return files.keep(new ColumnRef(await edits.unionRows(rows, null, sets).promise));
}

/** A column of points after motions. */
async function moved(column: ColumnRef, moves: readonly (readonly number[])[], files: FileColumns): Promise<ColumnRef> {
  let result = column;
  for (const move of moves) {
    result = files.keep(new ColumnRef(await edits.transformPositions(result.native, move).promise));
  }
  return result;
}

/** A label column after a sequence of strokes and undone strokes. */
async function repaint(
  from: ColumnRef | undefined,
  actions: readonly LabelAction[],
  rows: number,
  files: FileColumns,
  open: Open,
): Promise<ColumnRef> {
  let column = from ?? files.keep(new ColumnRef(await edits.unionRows(rows, null, []).promise)); // created by its first stroke
  for (const action of actions) {
    const data = (await open(action.rows.file)).native;
    const values = "previous" in action ? (await open(action.previous)).native : classColumn(action.to_class);
    const painted = await edits.setLabels(column.native, { ...action.rows, data }, values).promise;
    column = files.keep(new ColumnRef(painted));
  }
  return column;
}

/** A class value as a column of one row with the narrowest type. */
export function classColumn(value: number) {
  if (value <= 0xff) return new addon.Column("u8", Uint8Array.of(value));
  if (value <= 0xffff) return new addon.Column("u16", new Uint8Array(Uint16Array.of(value).buffer));
  return new addon.Column("u32", new Uint8Array(Uint32Array.of(value).buffer));
}

/** Errors: invalid_file if a column does not have one value per point. */
function checkLengths(columns: ReadonlyMap<string, ColumnRef>, rows: number): void {
  for (const [key, { length }] of columns) {
    if (length !== rows)
      throw new AppError("invalid_file", `column ${key} has ${length} rows, the cloud has ${rows} points`);
  }
}

/** Renames a folder that cannot be recovered: it stays for inspection, and the next start ignores it. */
export const setAside = (folder: string): Promise<void> => rename(folder, `${folder}.${Date.now()}.damaged`);

function nextFileNumber(names: string[]): number {
  return 1 + Math.max(-1, ...names.map((name) => Number(/^(\d+)\.col$/.exec(name)?.[1] ?? -1)));
}
