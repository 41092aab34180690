import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { remove } from "../file-moves.ts";
import { PRIVATE } from "./octree-folder.ts";
import { type Lease, leaseAlive, ownLease, readLease, writeLease } from "./process-lease.ts";

/** The octrees that this process needs, in a file of its own that other backends read before they remove octrees. */
export class OctreeLease {
  readonly #folder: string;
  readonly #lease: Lease;
  #written = "";

  constructor(folder: string, instance: string) {
    this.#folder = folder;
    this.#lease = ownLease(instance);
  }

  async write(needed: ReadonlySet<string>): Promise<void> {
    const ids = [...needed].sort();
    const text = ids.join();
    if (text === this.#written) return;
    await mkdir(this.#folder, { recursive: true, mode: PRIVATE });
    await writeLease(this.#path(), { ...this.#lease, ids });
    this.#written = text;
  }

  async remove(): Promise<void> {
    await remove(this.#path());
  }

  /** Octrees that other living processes need. Leases of dead processes are removed. */
  async others(): Promise<Set<string>> {
    const needed = new Set<string>();
    for (const name of await readdir(this.#folder).catch(() => [] as string[])) {
      const path = join(this.#folder, name);
      if (!name.endsWith(".json") || path === this.#path()) continue;
      const lease = await readLease(path);
      if (lease && leaseAlive(lease)) {
        const { ids } = JSON.parse(await readFile(path, "utf8").catch(() => "{}")) as { ids?: unknown }; // missing: that process closed
        if (Array.isArray(ids)) for (const id of ids) if (typeof id === "string") needed.add(id);
      } else {
        await remove(path);
      }
    }
    return needed;
  }

  #path(): string {
    return join(this.#folder, `${process.pid}.json`);
  }
}
