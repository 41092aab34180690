import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Lease, leaseAlive, readLease } from "./process-lease.ts";
import { isDamage, mayClaim, type RecoveredSession, readSessionFolder, setAside } from "./session-recovery.ts";
import { LEASE, STAGING } from "./staged-session.ts";

/**
 * Recovers the sessions of an earlier process in the background, one after the other. A requested session is recovered
 * at once, so that a large one does not delay the others.
 */
export class RecoveryQueue {
  readonly #root: string;
  readonly #lease: Lease;
  readonly #log: Logger;
  readonly #add: (id: string, session: RecoveredSession) => void;
  readonly #expected = new Map<string, () => Promise<void>>();
  #done: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(root: string, lease: Lease, log: Logger, add: (id: string, session: RecoveredSession) => void) {
    this.#root = root;
    this.#lease = lease;
    this.#log = log;
    this.#add = add;
  }

  /** Lists the sessions, then recovers them in the background. */
  async begin(): Promise<void> {
    await mkdir(this.#root, { recursive: true, mode: 0o700 }); // scans are private to the user
    const entries = await readdir(this.#root);
    const damaged = entries.filter((name) => name.endsWith(".damaged"));
    if (damaged.length > 0)
      this.#log.warn({ folder: this.#root, damaged }, "folders of sessions that could not be recovered");
    for (const id of entries.filter((name) => /^[0-9a-f]{8}$/.test(name))) this.#expect(id);
    this.#done = this.#bringAllBack();
    void this.#removeAbandoned(entries);
  }

  expects(id: string): boolean {
    return this.#expected.has(id);
  }
  /** Resolves when the session is recovered or has failed to; at once for an id that is not expected. */
  async arrived(id: string): Promise<void> {
    await this.#expected.get(id)?.();
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

  /** A process killed a moment ago may still count as running, so a later request for its session tries again. */
  #expect(id: string): void {
    const folder = join(this.#root, id);
    let begun: Promise<void> | undefined;
    const attempt = async () => {
      const owned = await this.#bringBack(id, folder);
      this.#expected.delete(id);
      if (owned) this.#expect(id);
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

  /**
   * True if another backend owns the session. Never rejects: an unreadable folder is set aside or left for the next
   * start.
   */
  async #bringBack(id: string, folder: string): Promise<boolean> {
    try {
      if (!existsSync(folder)) return false; // its owner deleted it meanwhile
      if (!(await mayClaim(folder, this.#lease))) return true;
      await this.#recover(id, folder);
    } catch (error) {
      if (!isDamage(error)) {
        this.#log.error({ err: error, session: id }, "session could not be recovered; the next start tries again");
        return false; // out of memory or handles: the folder itself is intact
      }
      this.#log.error({ err: error, session: id }, "session could not be recovered; its folder is kept as .damaged");
      await setAside(folder).catch((cause: unknown) => this.#log.error({ err: cause }, "rename failed"));
    }
    return false;
  }

  async #recover(id: string, folder: string): Promise<void> {
    const recovered = await readSessionFolder(folder, this.#log);
    if (!recovered) {
      this.#log.info({ session: id }, "leftover of an unfinished operation; removed");
      await rm(folder, { recursive: true, force: true });
      return;
    }
    this.#add(id, recovered);
    const points = recovered.state.columns.get("positions")?.length;
    if (recovered.loss === undefined) this.#log.info({ session: id, points }, "session recovered");
    else this.#log.error({ session: id, points, loss: recovered.loss }, "session recovered without its last changes");
  }

  /** Removes folders of deleted and unfinished sessions. */
  async #removeAbandoned(entries: readonly string[]): Promise<void> {
    for (const name of entries) {
      const folder = join(this.#root, name);
      try {
        const abandoned = name.endsWith(".deleted") || (name.endsWith(STAGING) && !(await isOwned(folder)));
        if (abandoned) await rm(folder, { recursive: true, force: true });
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
