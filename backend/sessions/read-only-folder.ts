import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import type { Lease } from "./process-lease.ts";
import { JOURNAL, type SessionDisk } from "./session-disk.ts";
import {
  claimFolder,
  openSession,
  type ReadSession,
  readSession,
  releaseSession,
  removeUnowned,
} from "./session-recovery.ts";

/**
 * The folder of a session that was read and could not be opened for edits: the disk is full or read-only. `open` tries
 * again. Until this backend has the claim, another one with more luck may take the session over.
 */
export class ReadOnlyFolder {
  readonly folder: string;
  readonly #lease: Lease;
  readonly #log: Logger;
  #read: ReadSession;
  #claimed: boolean;
  #cause: unknown;

  constructor(folder: string, read: ReadSession, how: { lease: Lease; claimed: boolean; cause: unknown; log: Logger }) {
    this.folder = folder;
    this.#read = read;
    this.#lease = how.lease;
    this.#claimed = how.claimed;
    this.#cause = how.cause;
    this.#log = how.log;
  }

  /** Why the session cannot be edited. */
  get cause(): unknown {
    return this.#cause;
  }

  /** Opens the session for edits. Errors: conflict if another backend has it now; any of the disk: it stays read-only. */
  async open(): Promise<SessionDisk> {
    try {
      await this.#claim();
      return await openSession(this.folder, this.#read, this.#log);
    } catch (error) {
      this.#cause = error;
      throw error;
    }
  }

  async #claim(): Promise<void> {
    const before = this.#claimed;
    if (!before) this.#claimed = (await claimFolder(this.folder, this.#lease)) === "claimed";
    const same = this.#read.contents.bytes.equals(await readFile(join(this.folder, JOURNAL)));
    if (before && !same) await this.#readAgain();
    else if (!this.#claimed || !same) {
      this.#claimed = before;
      throw new AppError("conflict", "another backend has changed this cloud meanwhile; open it again");
    }
  }

  /** The journal after an attempt that has failed: its state is the one read before, as only this backend has written. */
  async #readAgain(): Promise<void> {
    const read = await readSession(this.folder);
    if (!read) throw new AppError("internal", "a session that was open is not in its parent's journal");
    releaseSession(read);
    this.#read = read;
  }

  /** Removes the folder. Errors: conflict; any of the disk. */
  destroy(): Promise<void> {
    return removeUnowned(this.folder, this.#lease);
  }
}
