import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { remove, rename } from "../file-moves.ts";
import * as columnFiles from "../native/core/column-files.ts";
import type { CloudMeta } from "./cloud-session.ts";
import { ColumnRef } from "./column-ref.ts";
import { isNoSpace, type WithRoom } from "./full-disk.ts";
import { Journal } from "./journal.ts";
import type { Birth } from "./journal-records.ts";
import { type Lease, writeLease } from "./process-lease.ts";
import { JOURNAL, SessionDisk, type Track } from "./session-disk.ts";

export const LEASE = "owner.json";
export const STAGING = ".new";

/** A new session before it becomes visible. */
export class StagedSession {
  columns: Map<string, ColumnRef>;
  unsavedReason: string | null = null;
  #folder: string | null;
  #journal: Journal | undefined;
  readonly #fileOf = new Map<string, string>();
  /** `columns` before `shed`. */
  #written: ReadonlyMap<string, ColumnRef> = new Map();

  constructor(
    readonly id: string,
    readonly root: string | null,
    readonly lease: Lease,
    columns: ReadonlyMap<string, ColumnRef>,
    /** True: a full disk is an error. False: the session then exists in memory only. */
    readonly mustBeSaved: boolean,
  ) {
    this.columns = new Map(columns);
    this.#folder = root === null ? null : join(root, `${id}${STAGING}`);
  }

  async write(track: Track, log: Logger, withRoom: WithRoom): Promise<void> {
    const folder = this.#folder;
    if (folder === null) return;
    try {
      await withRoom(() => this.#writeFiles(folder, track));
      for (const [i, key] of [...this.columns.keys()].entries()) this.#fileOf.set(key, `${i}.col`);
    } catch (error) {
      if (this.mustBeSaved || !isNoSpace(error)) throw error;
      this.#unsaved(error, log);
    }
  }

  /** A failure removes the folder. */
  async #writeFiles(folder: string, track: Track): Promise<void> {
    try {
      await mkdir(folder, { mode: 0o700 }); // never the store itself: a folder in the place of a lost disk would hide it
      await writeLease(join(folder, LEASE), { ...this.lease });
      const paths = [...this.columns.keys()].map((_, i) => join(folder, `${i}.col`));
      await track(() => columnFiles.writeColumnFiles(nativesOf(this.columns), paths));
    } catch (error) {
      await remove(folder);
      throw error;
    }
  }

  /** Frees the columns, whose files are written, until `place` maps them. For making many sessions at once. */
  shed(): void {
    if (this.#folder === null || this.unsavedReason !== null) return;
    this.#written = this.columns;
    this.columns = new Map();
    for (const column of this.#written.values()) column.release();
  }

  #unsaved(error: unknown, log: Logger): void {
    this.unsavedReason = `The session store has no space left (${this.root}): this cloud would not survive a crash. Free some space and import it again, or save it as a project.`;
    log.warn({ err: error, session: this.id }, "session not saved");
  }

  /** Begins the journal. A failure removes the folder. */
  async describe(meta: CloudMeta, birth: Birth | undefined, log: Logger): Promise<void> {
    if (this.#folder === null || this.unsavedReason !== null) return;
    try {
      this.#journal = await Journal.create(join(this.#folder, JOURNAL));
      await this.#journal.append({
        type: "create",
        version: 2,
        columns: Object.fromEntries(this.#fileOf),
        undo: { base: null, deletes: [], labels: {} },
        meta,
        unsynced: [...this.#fileOf.values()],
        ...(birth ? { birth } : {}),
      });
    } catch (error) {
      await this.#failed(error, log);
    }
  }

  /**
   * Moves the folder to its final name and replaces the columns by mappings of their files. Call `describe` before; the
   * caller syncs the root. A failure removes the folder.
   */
  async place(log: Logger): Promise<SessionDisk | undefined> {
    if (this.#folder === null || this.root === null || this.unsavedReason !== null) return undefined;
    if (!this.#journal) throw new AppError("internal", `session ${this.id} has no journal yet; describe it first`);
    const folder = join(this.root, this.id);
    try {
      await rename(this.#folder, folder);
      this.#folder = folder;
      this.#journal.moved(join(folder, JOURNAL));
      this.#mapColumns(folder);
      const unsynced = [...this.#fileOf.values()];
      const disk = new SessionDisk(folder, this.#journal, log, { next: unsynced.length, unsynced });
      this.#folder = null; // owned by `disk`
      this.#journal = undefined;
      return disk;
    } catch (error) {
      await this.#failed(error, log);
      return undefined;
    }
  }

  async #failed(error: unknown, log: Logger): Promise<void> {
    await this.#remove();
    if (this.mustBeSaved || !isNoSpace(error)) throw error;
    this.#unsaved(error, log);
  }

  #mapColumns(folder: string): void {
    const mapped = new Map<string, ColumnRef>();
    try {
      for (const [key, file] of this.#fileOf) {
        const path = join(folder, file);
        const twin = this.columns.get(key) ?? this.#written.get(key);
        mapped.set(key, new ColumnRef(columnFiles.mapColumnFile(path), path, twin));
      }
    } catch (error) {
      for (const column of mapped.values()) column.release();
      throw error;
    }
    for (const [key, column] of mapped) {
      this.columns.get(key)?.release();
      this.columns.set(key, column);
    }
  }

  /** Passes ownership of the columns to the caller; `discard` then releases nothing. */
  handOver(): Map<string, ColumnRef> {
    const { columns } = this;
    this.columns = new Map();
    return columns;
  }

  /** Releases the columns. */
  release(): void {
    for (const column of this.columns.values()) column.release();
    this.columns.clear();
  }

  /** Releases the columns and removes the files. */
  async discard(): Promise<void> {
    this.release();
    await this.#remove();
  }

  async #remove(): Promise<void> {
    await this.#journal?.close();
    this.#journal = undefined;
    if (this.#folder !== null) await remove(this.#folder);
  }
}

const nativesOf = (columns: ReadonlyMap<string, ColumnRef>) => [...columns.values()].map(({ native }) => native);
