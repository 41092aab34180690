import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { remove, rename } from "../file-moves.ts";
import * as columnFiles from "../native/core/column-files.ts";
import type { NativeColumn, NativeJob } from "../native/core/handles.ts";
import { type CloudState, ownedColumns } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import { Journal } from "./journal.ts";
import { type Lease, writeLease } from "./process-lease.ts";
import { JOURNAL, SessionDisk, type Track } from "./session-disk.ts";
import { LEASE, STAGING } from "./staged-session.ts";
import { withTwins } from "./undo.ts";
import { createRecord } from "./undo-records.ts";

type State = Omit<CloudState, "version">;

/** Where the values of a column come from: a file that is written at a path, or memory. */
export interface ColumnSource {
  /** Writes a column file (cpp/io/column_file.h). */
  toFile(path: string): NativeJob<unknown>;
  toMemory(): NativeJob<NativeColumn>;
}

/**
 * A whole session, with its undo stacks, before it becomes visible: `describe` and `place` it, or `discard` it. Its columns
 * go straight into files of its folder, or into memory if sessions have no files.
 */
export class RestoredSession {
  readonly #root: string | null;
  readonly #lease: Lease;
  readonly #columns = new Set<ColumnRef>();
  /** Number of the next file. */
  #files = 0;
  #folder: string | null;
  #journal: Journal | undefined;
  #state: State | undefined;

  constructor(
    readonly id: string,
    root: string | null,
    lease: Lease,
  ) {
    this.#root = root;
    this.#lease = lease;
    this.#folder = root === null ? null : join(root, `${id}${STAGING}`);
  }

  /** Makes the folder. A failure removes it. */
  async begin(): Promise<void> {
    if (this.#folder === null) return;
    try {
      await mkdir(this.#folder, { mode: 0o700 }); // never the store itself: a folder in the place of a lost disk would hide it
      await writeLease(join(this.#folder, LEASE), { ...this.#lease });
    } catch (error) {
      await remove(this.#folder);
      throw error;
    }
  }

  /** Adds a column, which the session owns. Errors: those of the source; no_space, io. */
  async add(source: ColumnSource, track: Track): Promise<ColumnRef> {
    if (this.#folder === null) return this.#own(new ColumnRef(await track(() => source.toMemory())));
    return this.#addFile((path) => source.toFile(path), track);
  }

  async #addFile(write: (path: string) => NativeJob<unknown>, track: Track): Promise<ColumnRef> {
    const path = join(this.#folder as string, `${this.#files}.col`);
    this.#files += 1;
    await track(() => write(path));
    return this.#own(new ColumnRef(columnFiles.mapColumnFile(path), path));
  }

  /** Adds a column that was computed, and takes it over. */
  async adopt(column: NativeColumn, track: Track): Promise<ColumnRef> {
    if (this.#folder === null) return this.#own(new ColumnRef(column));
    try {
      return await this.#addFile((path) => columnFiles.writeColumnFiles([column], [path]), track);
    } finally {
      column.release();
    }
  }

  #own(column: ColumnRef): ColumnRef {
    this.#columns.add(column);
    return column;
  }

  /** The state, of columns that were added. */
  get state(): State {
    if (!this.#state) throw new AppError("internal", `session ${this.id} has no state yet`);
    return this.#state;
  }
  /** Sets the state. Columns that it does not have are dropped when it is placed. */
  set state(state: State) {
    this.#state = state;
  }

  /** Begins the journal. */
  async describe(): Promise<void> {
    if (this.#folder === null) return;
    const nameOf = ({ file }: ColumnRef) => fileName(file);
    const unsynced = [...ownedColumns(this.state)].map(nameOf);
    this.#journal = await Journal.create(join(this.#folder, JOURNAL));
    await this.#journal.append(createRecord(this.state, nameOf, unsynced));
  }

  /** Moves the folder to its final name and maps its files there. Call `describe` before; the caller syncs the root. */
  async place(log: Logger): Promise<SessionDisk | undefined> {
    if (this.#folder === null || this.#root === null) return undefined;
    if (!this.#journal) throw new AppError("internal", `session ${this.id} has no journal yet; describe it first`);
    const folder = join(this.#root, this.id);
    await rename(this.#folder, folder);
    this.#folder = folder;
    this.#journal.moved(join(folder, JOURNAL));
    this.#moveColumns(folder);
    const unsynced = [...ownedColumns(this.state)].map(({ file }) => fileName(file));
    const disk = new SessionDisk(folder, this.#journal, log, { next: this.#files, unsynced });
    this.#folder = null; // owned by `disk`
    this.#journal = undefined;
    return disk;
  }

  /** Maps the columns of the state under the final name of the folder and drops the others. */
  #moveColumns(folder: string): void {
    const twins = new Map<ColumnRef, ColumnRef>();
    try {
      for (const column of ownedColumns(this.state)) {
        const path = join(folder, fileName(column.file));
        twins.set(column, new ColumnRef(columnFiles.mapColumnFile(path), path, column));
      }
    } catch (error) {
      for (const twin of twins.values()) twin.release();
      throw error;
    }
    const columns = new Map([...this.state.columns].map(([key, column]) => [key, twins.get(column) ?? column]));
    const misses = new Map([...this.state.misses].map(([key, column]) => [key, twins.get(column) ?? column]));
    this.#state = { ...this.state, columns, misses, undo: withTwins(this.state.undo, twins) };
    for (const column of this.#columns) column.release();
    this.#columns.clear();
    for (const twin of twins.values()) this.#columns.add(twin);
  }

  /** Passes the state and the ownership of its columns to the caller; `discard` then releases nothing. */
  handOver(): State {
    const kept = ownedColumns(this.state);
    for (const column of this.#columns) if (!kept.has(column)) column.release();
    this.#columns.clear();
    return this.state;
  }

  /** Releases the columns and removes the files. */
  async discard(): Promise<void> {
    for (const column of this.#columns) column.release();
    this.#columns.clear();
    await this.#journal?.close();
    this.#journal = undefined;
    if (this.#folder !== null) await remove(this.#folder);
  }
}

function fileName(path: string | null): string {
  if (path === null) throw new AppError("internal", "a column of a restored session has no file");
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
