import { randomBytes } from "node:crypto";
import { mkdir, readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { remove, rename } from "../file-moves.ts";
import { isNoSpace } from "./full-disk.ts";
import { beyond, isComplete, lastUse, PRIVATE, SeenOctrees } from "./octree-folder.ts";
import { OctreeLease } from "./octree-lease.ts";
import { leaseAlive } from "./process-lease.ts";

const ID = /^[0-9a-f]{40}$/;
const LEASES = ".leases";
const STAGING = /\.(\d+)-[0-9a-f]{8}\.staging$/;

/** Octrees in use by this process. Called before a lease is written and before eviction. */
export type PinnedIds = () => Iterable<string>;

/**
 * The octree cache on disk, shared by all backends of the machine: one folder `<root>/<40 hex>/` per octree. Octrees
 * that no session needs are removed: beyond a size cap the least recently used ones, on a full disk all. A folder appears complete or not at all (staged, then
 * renamed). The lease file of a process lists the octrees it needs; they are never evicted while it lives.
 */
export class OctreeCache {
  readonly root: string;
  readonly #maxBytes: number;
  readonly #lease: OctreeLease;
  readonly #log: Logger;
  #pinned: PinnedIds = () => [];
  #pinsKnown: Promise<unknown> | undefined;
  readonly #building = new Map<string, Promise<string>>();
  /** Octrees needed by active runs, with the number of runs. */
  readonly #held = new Map<string, number>();
  #pinning: Promise<void> = Promise.resolve();
  #closed = false;
  #evicting: Promise<void> | undefined;
  #evictAgain = false;
  /** One removal at a time. */
  #removing: Promise<void> = Promise.resolve();
  readonly #seen = new SeenOctrees();
  /** Number of octrees removed so far. */
  #removed = 0;

  constructor(root: string, maxBytes: number, instance: string, log: Logger) {
    this.root = root;
    this.#maxBytes = maxBytes;
    this.#lease = new OctreeLease(join(root, LEASES), instance);
    this.#log = log;
  }

  /**
   * Sets the source of pins, the session store. Until `known` settles, sessions are still being recovered, the pins are
   * incomplete and nothing is evicted.
   */
  pinnedBy(pinned: PinnedIds, known?: Promise<void>): void {
    this.#pinned = pinned;
    const settled = () => {
      this.#pinsKnown = undefined;
    };
    this.#pinsKnown = known?.then(settled, settled);
  }

  /** The folder of a complete octree; undefined if it is not in the cache. Updates its time of use. */
  async path(id: string): Promise<string | undefined> {
    if (!ID.test(id)) return undefined;
    const folder = join(this.root, id);
    if (!(await isComplete(folder))) return undefined;
    const now = new Date();
    await utimes(join(folder, "metadata.json"), now, now).catch((error: unknown) =>
      this.#log.debug({ err: error }, "time of use not set"),
    );
    return folder;
  }

  /** Protects an octree, existing or still to be built, from eviction until the hold is released. */
  hold(id: string): { release(): void } {
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    return {
      release: () => {
        const left = (this.#held.get(id) ?? 0) - 1;
        if (left > 0) this.#held.set(id, left);
        else this.#held.delete(id);
      },
    };
  }

  /**
   * The folder of `id`. If it does not exist, `build` fills a staging folder. A process builds an id only once at a
   * time; between processes, the first to rename wins and the other's work is dropped. `signal` ends the wait for the
   * build of another caller and rejects with its reason.
   */
  async getOrBuild(
    id: string,
    build: (staging: string) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<{ folder: string; cached: boolean }> {
    const running = this.#building.get(id);
    if (running) {
      const folder = await unlessAborted(running, signal).catch(() => undefined); // the failure of another caller's build is not ours
      signal?.throwIfAborted();
      if (folder) return { folder, cached: true };
      return this.getOrBuild(id, build, signal);
    }
    if (this.#held.has(id)) await this.writePins(); // other backends leave it alone from here on
    const found = await this.path(id);
    if (found) return { folder: found, cached: true };
    if (this.#building.has(id)) return this.getOrBuild(id, build, signal); // another caller began meanwhile
    const built = this.withRoom(() => this.#build(id, build), signal);
    this.#building.set(id, built);
    try {
      return { folder: await built, cached: false };
    } finally {
      this.#building.delete(id);
    }
  }

  async #build(id: string, build: (staging: string) => Promise<void>): Promise<string> {
    const folder = join(this.root, id);
    const staging = this.#stagingOf(folder);
    try {
      await mkdir(staging, { recursive: true, mode: PRIVATE });
      await build(staging);
      await rename(staging, folder).catch(async () => {
        if (await isComplete(folder)) return; // another process was first: same id, same bytes
        await remove(folder); // an incomplete leftover stopped the rename
        await rename(staging, folder);
      });
    } finally {
      await remove(staging);
    }
    return folder;
  }

  /**
   * The result of `work`, which writes to the disk of the cache. If that disk is full, all octrees that no session needs
   * are removed and `work` runs again, as often as there was one to remove. While sessions are being recovered, their
   * needs are unknown: the wait for them ends with `signal`; without a signal the failure stands.
   */
  async withRoom<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (;;) {
      const before = this.#removed;
      try {
        return await work();
      } catch (error) {
        if (!isNoSpace(error) || (this.#pinsKnown && !signal)) throw error;
        if (this.#pinsKnown) await unlessAborted(this.#pinsKnown, signal);
        await this.#remove(0);
        if (this.#removed === before) throw error;
        this.#log.info({ octrees: this.#removed - before }, "disk full: octrees that no session needs were removed");
      }
    }
  }

  /** True if `folder` is on the disk of the cache. */
  async sharesDisk(folder: string): Promise<boolean> {
    const [mine, other] = await Promise.all([this.root, folder].map((path) => stat(path).catch(() => undefined)));
    return mine !== undefined && mine.dev === other?.dev;
  }

  /** Removes those of the octrees that no session, run or other backend needs. Never rejects: failures are logged. */
  async discard(ids: readonly string[]): Promise<void> {
    await this.#pinsKnown;
    await this.#remove(0, new Set(ids));
  }

  /**
   * Writes this process's pins to its lease; call it after sessions change the octrees they need. Never rejects: an
   * octree can be rebuilt, so a failure is only logged and does not fail the run.
   */
  writePins(): Promise<void> {
    this.#pinning = this.#pinning.then(() => this.#writePins()); // one after the other, so that the last call wins
    return this.#pinning;
  }

  async #writePins(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#lease.write(new Set([...this.#pinned(), ...this.#held.keys()]));
    } catch (error) {
      this.#log.warn({ err: error }, "octree pins not written; another backend may evict octrees that are in use here");
    }
  }

  /**
   * Removes least recently used octrees beyond the cap, and staging folders and leases of dead processes. Never
   * rejects: failures are logged and the next call tries again.
   */
  async evict(): Promise<void> {
    if (this.#pinsKnown) return; // the recovery of sessions calls this again at its end
    if (this.#evicting) {
      this.#evictAgain = true; // one round at a time; all calls during it share one more round
      return this.#evicting;
    }
    this.#evicting = this.#evictRounds().finally(() => {
      this.#evicting = undefined;
    });
    return this.#evicting;
  }

  async #evictRounds(): Promise<void> {
    do {
      this.#evictAgain = false;
      await this.#remove(this.#maxBytes);
    } while (this.#evictAgain);
  }

  #remove(maxBytes: number, only?: ReadonlySet<string>): Promise<void> {
    this.#removing = this.#removing
      .then(() => this.#removeUnneeded(maxBytes, only))
      .catch((error: unknown) => this.#log.warn({ err: error }, "octree cache not cleaned up"));
    return this.#removing;
  }

  /** Removes octrees that nobody needs, the least recently used first, until the cache takes `maxBytes`. */
  async #removeUnneeded(maxBytes: number, only?: ReadonlySet<string>): Promise<void> {
    const needed = new Set([...(await this.#lease.others()), ...this.#neededHere()]);
    const names = await readdir(this.root).catch(() => [] as string[]);
    for (const name of names) if (!ID.test(name)) await this.#removeDeadStaging(name);
    const ids = names.filter((name) => ID.test(name));
    await this.#seen.look(this.root, ids);
    if (!only && this.#seen.totalBytes() <= maxBytes) return;
    const entries = [];
    for (const id of ids) {
      if (only && !only.has(id)) continue;
      entries.push({ id, files: this.#seen.filesOf(id), used: await lastUse(join(this.root, id)) });
    }
    for (const id of beyond(entries, maxBytes, (id) => !needed.has(id))) {
      if (!this.#neededHere().has(id)) await this.#removeOne(id); // needed since the choice
    }
  }

  #neededHere(): Set<string> {
    return new Set([...this.#pinned(), ...this.#held.keys(), ...this.#building.keys()]);
  }

  /** Removes an octree whose files are damaged, whoever needs it: it is built again. */
  async removeDamaged(id: string): Promise<void> {
    this.#log.warn({ octree: id }, "an octree of the cache is damaged and is built again");
    await this.#removeOne(id);
  }

  /** Renames the folder first: lookups find an octree whole or not at all. */
  async #removeOne(id: string): Promise<void> {
    const doomed = this.#stagingOf(join(this.root, id));
    try {
      await rename(join(this.root, id), doomed);
      this.#seen.forget(id);
      this.#removed += 1;
      await remove(doomed);
    } catch (error) {
      this.#log.debug({ err: error, octree: id }, "octree not removed: in use, or removed by another backend");
    }
  }

  /** Removes this process's lease at a clean exit; it is not written again. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pinning;
    await this.#lease.remove();
  }

  #stagingOf(folder: string): string {
    return `${folder}.${process.pid}-${randomBytes(4).toString("hex")}.staging`;
  }

  async #removeDeadStaging(name: string): Promise<void> {
    const pid = Number(STAGING.exec(name)?.[1] ?? 0);
    if (pid > 0 && !leaseAlive({ pid, start_time: null, instance: "" })) {
      await remove(join(this.root, name));
    }
  }
}

/** The result of `work`, unless `signal` aborts first. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
