import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Logger } from "pino";
import { remove } from "../file-moves.ts";
import { type Lease, leaseAlive, ownLease, writeLease } from "./process-lease.ts";

/** Name of the incomplete file of an export, and of a project. */
const PARTIAL = /^\.export-[0-9a-f]{16}\.partial$|\.[0-9a-f]{8}\.partial$/;

/**
 * Notes which incomplete files this process has in the user's folders, so that a later start finds what a killed
 * process left. One small file per export in the data folder.
 */
export class PendingFiles {
  readonly #root: string;
  readonly #lease: Lease;
  readonly #log: Logger;

  constructor(root: string, instance: string, log: Logger) {
    this.#root = root;
    this.#lease = ownLease(instance);
    this.#log = log;
  }

  /** A new name for an incomplete file. */
  partialName(): string {
    return `.export-${randomBytes(8).toString("hex")}.partial`;
  }

  /** A new name for an incomplete project, beside it. */
  partialProject(path: string): string {
    return `${path}.${randomBytes(4).toString("hex")}.partial`;
  }

  /** Notes a file named by partialName() or partialProject(). Returns what removes the file and the note. Never rejects. */
  async add(path: string): Promise<() => Promise<void>> {
    const note = join(this.#root, `${process.pid}-${randomBytes(8).toString("hex")}.json`);
    let noted = false;
    try {
      await mkdir(this.#root, { recursive: true, mode: 0o700 });
      await writeLease(note, { ...this.#lease, path });
      noted = true;
    } catch (error) {
      this.#log.warn({ err: error }, "an export is not noted; if the process is killed, its incomplete file stays");
    }
    return async () => {
      await remove(path);
      if (noted) await remove(note);
    };
  }

  /** Removes the incomplete files of ended processes. Never rejects. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      try {
        await this.#sweepOne(join(this.#root, name));
      } catch (error) {
        this.#log.debug({ err: error, name }, "incomplete export not removed; the next start tries again");
      }
    }
  }

  async #sweepOne(note: string): Promise<void> {
    const noted = parsed(await readFile(note, "utf8"));
    if (noted && leaseAlive(noted)) return;
    if (noted && PARTIAL.test(basename(noted.path))) {
      await remove(noted.path);
      this.#log.info({ file: basename(noted.path) }, "incomplete export of an ended process removed");
    }
    await remove(note);
  }
}

/** Undefined for a note that is torn or damaged. */
function parsed(text: string): (Lease & { readonly path: string }) | undefined {
  try {
    const { pid, start_time, instance, path } = JSON.parse(text) as Partial<Lease & { path: string }>;
    if (!Number.isInteger(pid) || typeof path !== "string") return undefined;
    return { pid: pid as number, start_time: start_time ?? null, instance: instance ?? "", path };
  } catch {
    return undefined;
  }
}
