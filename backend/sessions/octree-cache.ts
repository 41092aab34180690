import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { type Lease, leaseAlive, ownLease, readLease, writeLease } from "./process-lease.ts";

const ID = /^[0-9a-f]{40}$/;
const LEASES = ".leases";
const STAGING = /\.(\d+)-[0-9a-f]{8}\.staging$/;

/** Octrees in use by this process. Called before a lease is written and before eviction. */
export type PinnedIds = () => Iterable<string>;

/**
 * The octree cache on disk, shared by all backends of the machine: one folder `<root>/<40 hex>/` per octree. Beyond a
 * size cap, the least recently used octrees are removed. A folder appears complete or not at all (staged, then
 * renamed). The lease file of a process lists the octrees it needs; they are never evicted while it lives.
 */
export class OctreeCache {
  readonly root: string;
  readonly #maxBytes: number;
  readonly #lease: Lease;
  readonly #log: Logger;
  #pinned: PinnedIds = () => [];
  #pinsKnown = true;
  readonly #building = new Map<string, Promise<string>>();
  /** Octrees needed by active runs, with the number of runs. */
  readonly #held = new Map<string, number>();
  #leased = "";
  #pinning: Promise<void> = Promise.resolve();
  #closed = false;
  #evicting: Promise<void> | undefined;
  #evictAgain = false;

  constructor(root: string, maxBytes: number, instance: string, log: Logger) {
    this.root = root;
    this.#maxBytes = maxBytes;
    this.#lease = ownLease(instance);
    this.#log = log;
  }

  /**
   * Sets the source of pins, the session store. Until `known` settles, sessions are still being recovered, the pins are
   * incomplete and nothing is evicted.
   */
  pinnedBy(pinned: PinnedIds, known?: Promise<void>): void {
    this.#pinned = pinned;
    if (!known) return;
    this.#pinsKnown = false;
    const settled = () => {
      this.#pinsKnown = true;
    };
    known.then(settled, settled);
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
    const found = await this.path(id);
    if (found) return { folder: found, cached: true };
    if (this.#building.has(id)) return this.getOrBuild(id, build, signal); // another caller began meanwhile
    const built = this.#build(id, build);
    this.#building.set(id, built);
    try {
      return { folder: await built, cached: false };
    } finally {
      this.#building.delete(id);
    }
  }

  async #build(id: string, build: (staging: string) => Promise<void>): Promise<string> {
    const folder = join(this.root, id);
    const staging = `${folder}.${process.pid}-${randomBytes(4).toString("hex")}.staging`;
    await mkdir(staging, { recursive: true });
    try {
      await build(staging);
      await rename(staging, folder).catch(async () => {
        if (await isComplete(folder)) return; // another process was first: same id, same bytes
        await rm(folder, { recursive: true, force: true }); // an incomplete leftover stopped the rename
        await rename(staging, folder);
      });
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
    return folder;
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
      const ids = [...new Set(this.#pinned())].sort();
      const text = ids.join();
      if (text === this.#leased) return;
      await mkdir(join(this.root, LEASES), { recursive: true });
      await writeLease(this.#leasePath(), { ...this.#lease, ids });
      this.#leased = text;
    } catch (error) {
      this.#log.warn({ err: error }, "octree pins not written; another backend may evict octrees that are in use here");
    }
  }

  /**
   * Removes least recently used octrees beyond the cap, and staging folders and leases of dead processes. Never
   * rejects: failures are logged and the next call tries again.
   */
  async evict(): Promise<void> {
    if (!this.#pinsKnown) return; // the recovery of sessions calls this again at its end
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
      await this.#evict().catch((error: unknown) => this.#log.warn({ err: error }, "octree cache not cleaned up"));
    } while (this.#evictAgain);
  }

  async #evict(): Promise<void> {
    const pinned = new Set([
      ...this.#pinned(),
      ...this.#held.keys(),
      ...this.#building.keys(),
      ...(await this.#othersPins()),
    ]);
    const entries: (Usage & { id: string })[] = [];
    for (const name of await readdir(this.root).catch(() => [] as string[])) {
      if (ID.test(name)) entries.push({ id: name, ...(await usage(join(this.root, name))) });
      else await this.#removeDeadStaging(name);
    }
    // Translated octrees share octree.bin by hard links (docs/adr/0015): its size counts once, until the last is removed.
    const names = new Map<bigint, number>();
    for (const { files } of entries) for (const { ino } of files) names.set(ino, (names.get(ino) ?? 0) + 1);
    const sizes = new Map(entries.flatMap(({ files }) => files.map(({ ino, size }) => [ino, size] as const)));
    let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    for (const { id, files } of entries.sort((a, b) => a.used - b.used)) {
      if (total <= this.#maxBytes) break;
      if (pinned.has(id)) continue;
      await rm(join(this.root, id), { recursive: true, force: true });
      for (const { ino, size } of files) {
        const left = (names.get(ino) ?? 0) - 1;
        names.set(ino, left);
        if (left === 0) total -= size;
      }
    }
  }

  /** Removes this process's lease at a clean exit; it is not written again. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#pinning;
    await rm(this.#leasePath(), { force: true });
  }

  #leasePath(): string {
    return join(this.root, LEASES, `${process.pid}.json`);
  }

  async #othersPins(): Promise<string[]> {
    const folder = join(this.root, LEASES);
    const pins: string[] = [];
    for (const name of await readdir(folder).catch(() => [] as string[])) {
      if (!name.endsWith(".json")) continue;
      const path = join(folder, name);
      const lease = await readLease(path);
      if (lease && leaseAlive(lease)) {
        const { ids } = JSON.parse(await readFile(path, "utf8").catch(() => "{}")) as { ids?: unknown }; // missing: that process closed
        if (Array.isArray(ids)) pins.push(...ids.filter((id) => typeof id === "string"));
      } else {
        await rm(path, { force: true });
      }
    }
    return pins;
  }

  async #removeDeadStaging(name: string): Promise<void> {
    const pid = Number(STAGING.exec(name)?.[1] ?? 0);
    if (pid > 0 && !leaseAlive({ pid, start_time: null, instance: "" })) {
      await rm(join(this.root, name), { recursive: true, force: true });
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

/** metadata.json is written last. The file sizes it implies reveal pages lost when the machine crashed. */
async function isComplete(folder: string): Promise<boolean> {
  try {
    const metadata = JSON.parse(await readFile(join(folder, "metadata.json"), "utf8")) as {
      points: number;
      attributes: { size: number }[];
    };
    const stride = metadata.attributes.reduce((sum, attribute) => sum + attribute.size, 0);
    const [points, hierarchy] = await Promise.all([
      stat(join(folder, "octree.bin")),
      stat(join(folder, "hierarchy.bin")),
    ]);
    return points.size === metadata.points * stride && hierarchy.size > 0;
  } catch {
    return false; // missing or torn: not a usable octree
  }
}

interface Usage {
  readonly files: readonly { readonly ino: bigint; readonly size: number }[];
  /** Time of the last use, milliseconds. */
  readonly used: number;
}

async function usage(folder: string): Promise<Usage> {
  const files: { ino: bigint; size: number }[] = [];
  let used = 0;
  for (const name of await readdir(folder).catch(() => [] as string[])) {
    const info = await stat(join(folder, name), { bigint: true }).catch(() => undefined);
    if (!info) continue;
    files.push({ ino: info.ino, size: Number(info.size) });
    if (name === "metadata.json") used = Number(info.mtimeMs);
  }
  return { files, used };
}
