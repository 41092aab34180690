import { existsSync } from "node:fs";
import { mkdir, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { remove } from "../file-moves.ts";
import { type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { ReadOnlyFolder } from "./read-only-folder.ts";
import { finishPlacing } from "./restored-group.ts";
import { REMOVED, type SessionDisk } from "./session-disk.ts";
import {
  type Claim,
  claimFolder,
  isDamage,
  openSession,
  type ReadSession,
  readSession,
  releaseSession,
  setAside,
} from "./session-recovery.ts";
import { LEASE, STAGING } from "./staged-session.ts";
import { UnopenedSessions } from "./unopened-sessions.ts";

/** A session of an earlier process, with its folder: opened for edits, or read-only for the time being. */
export interface RecoveredSession {
  readonly read: ReadSession;
  readonly disk: SessionDisk | ReadOnlyFolder;
}

/** The claim on a folder, or why it could not be written: then the session can only be read. */
type Owned = "claimed" | { readonly failure: unknown };

interface Expected {
  readonly after?: Promise<unknown>;
  readonly verifyAll?: boolean;
}

/**
 * Recovers the sessions of an earlier process in the background, one after the other. A requested session is recovered
 * at once, so that a large one does not delay the others.
 */
export class RecoveryQueue {
  /** Sessions that could not be recovered. */
  readonly unopened: UnopenedSessions;
  readonly #root: string;
  readonly #lease: Lease;
  readonly #log: Logger;
  readonly #add: (id: string, session: RecoveredSession) => void;
  readonly #expected = new Map<string, () => Promise<void>>();
  #done: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(root: string, lease: Lease, log: Logger, add: (id: string, session: RecoveredSession) => void) {
    this.unopened = new UnopenedSessions(root, lease);
    this.#root = root;
    this.#lease = lease;
    this.#log = log;
    this.#add = add;
  }

  /** Lists the sessions, then recovers them in the background. */
  async begin(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 }); // scans are private to the user
    await finishPlacing(this.#root, this.#log);
    const entries = await readdir(this.#root);
    const damaged = entries.filter((name) => this.unopened.addSetAside(name));
    if (damaged.length > 0)
      this.#log.warn({ folder: this.#root, damaged }, "folders of sessions that could not be recovered");
    for (const id of entries.filter((name) => this.#isSession(name))) this.expect(id);
    this.#done = this.#bringAllBack();
    void this.#removeAbandoned(entries);
  }

  #isSession(name: string): boolean {
    return /^[0-9a-f]{8}$/.test(name) && !existsSync(join(this.#root, name, REMOVED));
  }

  expects(id: string): boolean {
    return this.#expected.has(id);
  }
  /** Resolves when the session is recovered or has failed to; at once for an id that is not expected. */
  async arrived(id: string): Promise<void> {
    await this.#expected.get(id)?.();
  }
  /** Resolves when the queue is empty and each session was tried again that another backend had, or that failed. */
  async allArrived(): Promise<void> {
    await this.#done;
    for (const id of [...this.#expected.keys()]) if (!this.#stopped) await this.arrived(id);
  }
  /** Resolves when the queue is empty or stopped. */
  done(): Promise<void> {
    return this.#done;
  }
  /** Ends after the session in progress; the next start continues. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#done;
  }

  /**
   * Recovers a session at the next request for it, when `after` has settled. With `verifyAll` each file is compared with
   * its checksum. What hindered the recovery may have passed: then later requests try again.
   */
  expect(id: string, { after = Promise.resolve(), verifyAll = false }: Expected = {}): void {
    const folder = join(this.#root, id);
    let begun: Promise<void> | undefined;
    const attempt = async () => {
      await Promise.allSettled([after]);
      const again = await this.#bringBack(id, folder, verifyAll);
      this.#expected.delete(id);
      if (again) this.expect(id, { verifyAll });
    };
    this.#expected.set(id, () => {
      begun ??= attempt();
      return begun;
    });
  }

  async #bringAllBack(): Promise<void> {
    for (const [, begin] of [...this.#expected]) {
      if (this.#stopped) return;
      await begin();
    }
  }

  /** True if a later request should try again. Never rejects: an unreadable folder is set aside or left as it is. */
  async #bringBack(id: string, folder: string, verifyAll: boolean): Promise<boolean> {
    this.unopened.forget(id);
    try {
      if (!existsSync(folder)) return false; // its owner deleted it meanwhile
      const claim = await this.#claim(folder);
      if (claim === "claimed" || typeof claim === "object") {
        const read = await readSession(folder, verifyAll);
        await (read ? this.#recover(id, folder, read, claim) : this.#removeUnborn(id, folder));
        return false;
      }
      if (claim === "of another window") this.unopened.addWaiting(id);
      return true;
    } catch (error) {
      if (!isDamage(error)) {
        this.#log.error({ err: error, session: id }, "session could not be recovered; the next request tries again");
        this.unopened.addFailed(id, error); // out of memory or handles: the folder itself is intact
        return true;
      }
      this.#log.error({ err: error, session: id }, "session could not be recovered; its folder is kept as .damaged");
      await this.#setAside(id, folder, error);
    }
    return false;
  }

  /** The claim, or the failure to write it: the session can then only be read. */
  async #claim(folder: string): Promise<Claim | { readonly failure: unknown }> {
    try {
      return await claimFolder(folder, this.#lease);
    } catch (failure) {
      return { failure };
    }
  }

  /** Removes a child that its parent never committed. */
  #removeUnborn(id: string, folder: string): Promise<void> {
    return remove(folder).then(
      () => this.#log.info({ session: id }, "leftover of an unfinished operation; removed"),
      (error: unknown) =>
        this.#log.warn({ err: error, session: id }, "leftover of an unfinished operation not removed"),
    );
  }

  async #recover(id: string, folder: string, read: ReadSession, claim: Owned): Promise<void> {
    const disk = await this.#open(id, folder, read, claim);
    this.#add(id, { read, disk });
    const points = read.state.columns.get("positions")?.length;
    if (read.loss === undefined) this.#log.info({ session: id, points }, "session recovered");
    else this.#log.error({ session: id, points, loss: read.loss }, "session recovered without its last changes");
  }

  async #open(id: string, folder: string, read: ReadSession, claim: Owned) {
    const claimed = claim === "claimed";
    let cause: unknown = claimed ? undefined : claim.failure;
    if (claimed) {
      try {
        return await openSession(folder, read, this.#log);
      } catch (error) {
        cause = error;
      }
    }
    if (!existsSync(folder)) {
      releaseSession(read);
      throw cause; // removed meanwhile
    }
    this.#log.warn({ err: cause, session: id }, "session is read-only until its folder can be written");
    return new ReadOnlyFolder(folder, read, { lease: this.#lease, claimed, cause, log: this.#log });
  }

  async #setAside(id: string, folder: string, error: unknown): Promise<void> {
    try {
      this.unopened.addDamaged(id, await setAside(folder), error);
    } catch (cause) {
      this.#log.error({ err: cause, session: id }, "rename failed");
      if (existsSync(folder)) this.unopened.addDamaged(id, folder, error);
    }
  }

  /** Removes folders of deleted and unfinished sessions. */
  async #removeAbandoned(entries: readonly string[]): Promise<void> {
    for (const name of entries) {
      const folder = join(this.#root, name);
      try {
        const removed = name.endsWith(".deleted") || existsSync(join(folder, REMOVED));
        const abandoned = removed || (name.endsWith(STAGING) && !(await isOwned(folder)));
        if (abandoned) await remove(folder);
      } catch (error) {
        this.#log.debug({ err: error, name }, "leftover not removed; its owner or the next start does it");
      }
    }
  }
}

async function isOwned(folder: string): Promise<boolean> {
  const owner = await readLease(join(folder, LEASE));
  if (owner) return leaseAlive(owner);
  const { mtimeMs } = await stat(folder); // the lease is written first: a folder without one is seconds old or abandoned
  return Date.now() - mtimeMs < 60_000;
}
