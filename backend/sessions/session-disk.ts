import { open, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Logger } from "pino";
import { isInUse, remove, rename } from "../file-moves.ts";
import * as columnFiles from "../native/core/column-files.ts";
import type { NativeJob } from "../native/core/handles.ts";
import { type CloudChange, type CloudState, type Edit, ownedColumns } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import type { Journal } from "./journal.ts";
import type { JournalRecord, LabelRecord, RowSetRecord, StepRecord } from "./journal-records.ts";
import { computedKeys, type LabelDelta, type RowSet, stepColumns, type UndoStep } from "./undo.ts";
import { createRecord } from "./undo-records.ts";

export const JOURNAL = "journal.log";

/** How a run waits for native work: `job.track`. */
export type Track = <T>(start: () => NativeJob<T>) => Promise<T>;

/** Files up to this size are flushed before their record, larger ones after the answer. */
const FLUSH_AT_ONCE_BYTES = 1 << 20;
/** Largest number of strokes that a restart has to repaint; beyond it the column is written again. */
const MAX_REDO_STROKES = 32;
const MAX_JOURNAL_BYTES = 8 << 20;
/** Part of the compaction threshold for unneeded files: 2 x the columns' size + this. */
const MIN_GARBAGE_BYTES = 64 << 20;

const untracked: Track = (start) => start().promise;

/** Contents of a session's folder. */
export interface FolderContents {
  /** Number of the next column file. */
  readonly next: number;
  /** Files that may not have reached the disk. */
  readonly unsynced: Iterable<string>;
  /** Tokens of children that may not yet be confirmed. */
  readonly births?: Iterable<string>;
}

/** The copy of a session on disk: a folder with the journal and a file per column. */
export class SessionDisk {
  readonly folder: string;
  readonly journal: Journal;
  readonly #log: Logger;
  #nextFile: number;
  /** Files of columns that are written but not mapped. */
  readonly #fileOf = new WeakMap<ColumnRef, string>();
  readonly #unsynced: Set<string>;
  /** Files being written concurrently with edits, not yet assigned to a column. */
  readonly #arriving = new Set<string>();
  readonly #births: Set<string>;
  #redoStrokes = 0;
  /** Points were moved or rows dropped since the files were written. */
  #computed = false;
  /** Bytes written since the journal began. */
  #writtenBytes = 0;
  #flushing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(folder: string, journal: Journal, log: Logger, files: FolderContents) {
    this.folder = folder;
    this.journal = journal;
    this.#log = log;
    this.#nextFile = files.next;
    this.#unsynced = new Set(files.unsynced);
    this.#births = new Set(files.births);
  }

  /**
   * Saves a change: files first, then its journal record, flushed. A failure leaves neither.
   * Errors: no_space, io.
   */
  async save(change: CloudChange): Promise<void> {
    const batch: string[] = [];
    try {
      const steps = change.undo ?? [];
      const computed = computedKeys(steps, change.move !== undefined);
      const columns: Record<string, string | null> = {};
      for (const [key, column] of change.columns ?? []) {
        if (computed.has(key) || (change.compact && column !== null)) continue;
        columns[key] = column && (await this.#store(column, batch));
      }
      const misses: Record<string, string> = {};
      for (const [key, column] of change.misses ?? []) misses[key] = await this.#store(column, batch);
      const undo: StepRecord[] = [];
      for (const step of steps) undo.push(await this.#stepRecord(step, batch));
      const unsynced = this.#filesOf(change).filter((file) => this.#unsynced.has(file));
      await this.journal.append({
        type: "commit",
        columns,
        meta: change.meta ?? {},
        ...(change.misses ? { misses } : {}),
        ...(undo.length > 0 ? { undo } : {}),
        ...(change.move === undefined ? {} : { move: change.move }),
        ...(change.compact ? { compact: true as const } : {}),
        ...(unsynced.length > 0 ? { unsynced } : {}),
        ...(change.births === undefined ? {} : { births: change.births }),
      });
      if (change.births !== undefined) this.#births.add(change.births);
      if (change.move !== undefined || change.compact) this.#computed = true;
      this.#redoStrokes += steps.filter(({ op }) => op === "paint" || op === "keep_labels").length;
    } catch (error) {
      for (const file of batch) await this.#remove(file); // leaves no incomplete files on a full disk
      for (const column of this.#columnsOf(change))
        if (batch.includes(this.#fileOf.get(column) ?? "")) this.#fileOf.delete(column);
      throw error;
    }
    this.flushLater();
  }

  #columnsOf({ columns, misses, undo }: CloudChange): ColumnRef[] {
    const all = [...(columns?.values() ?? []), ...(misses?.values() ?? []), ...stepColumns(undo ?? [])];
    return all.filter((column) => column !== null);
  }
  /** Files named in the record of a change. */
  #filesOf(change: CloudChange): string[] {
    return this.#columnsOf(change).flatMap((column) => this.#fileFor(column) ?? []);
  }

  /** Call when all sessions of the token are confirmed. */
  forgetBirths(token: string): void {
    this.#births.delete(token);
  }

  /** True if a restart would have to compute much, or the folder contains many unneeded files. */
  wantsCompaction(state: CloudState): boolean {
    if (this.#computed || this.#redoStrokes > MAX_REDO_STROKES || this.journal.length > MAX_JOURNAL_BYTES) return true;
    const live = [...ownedColumns(state)].reduce((sum, { native }) => sum + native.bytes, 0);
    return this.#writtenBytes > 2 * live + MIN_GARBAGE_BYTES;
  }

  /** Name of the column's file; writes the file if there is none. */
  async #store(column: ColumnRef, batch: string[]): Promise<string> {
    const known = this.#fileFor(column);
    if (known !== undefined) return known;
    const file = await this.#write(column, batch, untracked);
    this.#fileOf.set(column, file);
    return file;
  }

  #fileFor(column: ColumnRef): string | undefined {
    if (column.file !== null && dirname(column.file) === this.folder) return basename(column.file);
    return this.#fileOf.get(column);
  }

  async #write(column: ColumnRef, batch: string[], track: Track, arriving?: Set<string>): Promise<string> {
    const file = `${this.#nextFile}.col`;
    this.#nextFile += 1;
    batch.push(file);
    arriving?.add(file);
    const path = join(this.folder, file);
    await track(() => columnFiles.writeColumnFiles([column.native], [path]));
    this.#writtenBytes += column.native.bytes;
    if (column.native.bytes <= FLUSH_AT_ONCE_BYTES) await track(() => columnFiles.syncColumnFile(path));
    else this.#unsynced.add(file);
    return file;
  }

  async #remove(file: string): Promise<void> {
    this.#unsynced.delete(file);
    this.#arriving.delete(file);
    await rm(join(this.folder, file), { force: true }); // without patience: the session waits
  }

  async #rowSet({ data, ...rest }: RowSet, batch: string[]): Promise<RowSetRecord> {
    return { ...rest, file: await this.#store(data, batch) };
  }

  async #label(delta: LabelDelta, batch: string[]): Promise<LabelRecord> {
    const rows = await this.#rowSet(delta.rows, batch);
    const previous = await this.#store(delta.previous, batch);
    return { stroke_id: delta.stroke_id, to_class: delta.to_class, rows, previous };
  }

  async #stepRecord(step: UndoStep, batch: string[]): Promise<StepRecord> {
    switch (step.op) {
      case "delete":
        return { op: step.op, rows: await this.#rowSet(step.rows, batch) };
      case "fold_deletes":
        return { op: step.op, count: step.count, base: step.base && (await this.#rowSet(step.base, batch)) };
      case "paint":
        return { op: step.op, slug: step.slug, ...(await this.#label(step, batch)) };
      default:
        return step;
    }
  }

  /**
   * Writes the columns of a state that have no file yet, concurrently with edits, so that `compact` needs the session's
   * lock only briefly. Errors: no_space, io; then no file is kept.
   */
  async prepare(state: CloudState): Promise<void> {
    const written = new Map<ColumnRef, string>();
    const batch: string[] = [];
    try {
      for (const column of ownedColumns(state)) {
        if (this.#fileFor(column) === undefined)
          written.set(column, await this.#write(column, batch, untracked, this.#arriving));
      }
    } catch (error) {
      for (const file of batch) await this.#remove(file);
      throw error;
    }
    for (const [column, file] of written) this.#fileOf.set(column, file);
    for (const file of batch) this.#arriving.delete(file); // the following `compact` uses or removes them
  }

  /**
   * Journal compaction: writes columns that exist in memory only, replaces the journal by one record of the state and
   * removes unneeded files. All columns are mapped files afterwards. Errors: no_space, io; then nothing has changed.
   */
  async compact(edit: Edit): Promise<void> {
    const batch: string[] = [];
    const twins = new Map<ColumnRef, ColumnRef>();
    try {
      const { state } = edit;
      for (const column of ownedColumns(state)) {
        if (column.file !== null) continue;
        const file = this.#fileFor(column) ?? (await this.#write(column, batch, untracked));
        const path = join(this.folder, file);
        twins.set(column, new ColumnRef(columnFiles.mapColumnFile(path), path, column));
      }
      const nameOf = (column: ColumnRef) => basename((twins.get(column) ?? column).file as string);
      const needed = new Set([...ownedColumns(state)].map(nameOf));
      const unsynced = [...this.#unsynced].filter((file) => needed.has(file));
      const record = createRecord(state, nameOf, unsynced);
      const births = [...this.#births].map(
        (token): JournalRecord => ({ type: "commit", columns: {}, meta: {}, births: token }),
      );
      await this.journal.replace([record, ...births]);
      batch.length = 0; // the journal names them: keep them
      await syncFolder(this.folder);
      edit.swap(twins);
      this.#redoStrokes = 0;
      this.#computed = false;
      this.#writtenBytes = 0;
      await this.#removeUnneeded(needed);
    } catch (error) {
      for (const file of batch) await this.#remove(file);
      throw error;
    } finally {
      for (const twin of twins.values()) twin.release(); // the session holds its own references
    }
    this.flushLater();
  }

  async #removeUnneeded(needed: ReadonlySet<string>): Promise<void> {
    for (const name of await readdir(this.folder)) {
      if (!/^\d+\.col$/.test(name) || needed.has(name) || this.#arriving.has(name)) continue;
      await this.#remove(name).catch((error: unknown) =>
        this.#log.debug({ err: error, name }, "file still in use; the next compaction removes it"),
      );
    }
  }

  /** Flushes files after the answer, against power loss. Until the `synced` record, recovery verifies checksums. */
  flushLater(): void {
    if (this.#unsynced.size > 0) this.#flushing = this.#flushing.then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    const done: string[] = [];
    try {
      for (const file of [...this.#unsynced]) {
        if (this.#closed) return;
        if (!this.#unsynced.has(file)) continue; // removed meanwhile
        await columnFiles.syncColumnFile(join(this.folder, file)).promise;
        done.push(file);
      }
      if (this.#closed || done.length === 0) return;
      await this.journal.append({ type: "synced", files: done });
      for (const file of done) this.#unsynced.delete(file);
    } catch (error) {
      if (!this.#closed)
        this.#log.warn({ err: error, session: basename(this.folder) }, "columns not flushed to the disk yet");
    }
  }

  /** Closes the journal; the folder stays. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.journal.close();
  }

  /** Removes the folder. */
  async destroy(): Promise<void> {
    const remove = await this.retire();
    await remove();
  }

  /** As retireFolder(), for the folder, after the journal is closed. */
  async retire(): Promise<() => Promise<void>> {
    await this.close();
    return retireFolder(this.folder);
  }
}

/** Removes a session's folder. It is renamed first, so that no restart finds it even if the removal is interrupted. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = await retireFolder(folder);
  await remove();
}

/** Marks a folder that could not be renamed: what is left of a removed session. */
export const REMOVED = "removed";
/** How long until files that were in use are tried again. */
const IN_USE_MS = 5000;

/**
 * Renames a session's folder, so that no restart finds it even if its removal, the result, is interrupted. Where the
 * system refuses because a run still reads its files, the folder is marked instead, and removed when they are free.
 */
export async function retireFolder(folder: string): Promise<() => Promise<void>> {
  const doomed = `${folder}.${process.pid}.deleted`;
  try {
    await rename(folder, doomed);
  } catch (error) {
    if (isInUse(error)) return markRemoved(folder);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // removed already
  }
  return () => remove(doomed);
}

async function markRemoved(folder: string): Promise<() => Promise<void>> {
  await writeFile(join(folder, REMOVED), "");
  return async () => {
    const again = () => remove(folder).catch(() => void setTimeout(again, IN_USE_MS).unref()); // or the next start
    void again();
  };
}

/** Makes renames in a folder survive a crash of the machine. Not needed on Windows, which orders renames itself. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
