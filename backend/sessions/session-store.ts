import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import * as columnFiles from "../native/column-files.ts";
import { type CloudChange, type CloudMeta, CloudSession } from "./cloud-session.ts";
import type { ColumnRef } from "./column-ref.ts";
import type { Journal } from "./journal.ts";
import { type Lease, leaseAlive, ownLease, readLease } from "./process-lease.ts";
import { mayClaim, readSessionFolder, setAside } from "./session-recovery.ts";
import { LEASE, type SessionDisk, STAGING, StagedSession, type Track } from "./staged-session.ts";

interface Stored {
  readonly session: CloudSession;
  /** Absent when the journal is off or the disk had no room at creation. */
  readonly disk?: SessionDisk;
}

/** What create() was given and what became of it. */
export interface CreatedSession {
  readonly session: CloudSession;
  /** Why the session will not survive a crash; null when it will. */
  readonly unsaved_reason: string | null;
}

/**
 * Every cloud session of this process, and its copy on disk (design: a journal per session, columns in files of their
 * own). Columns are mapped from their files once written, so the system can drop and page them: a session is never
 * evicted and a lookup never fails because of memory.
 */
export class SessionStore {
  readonly #sessions = new Map<string, Stored>();
  readonly #root: string | null;
  readonly #lease: Lease;
  readonly #log: Logger;
  #recovering: Promise<void> = Promise.resolve();
  #closing = false;
  readonly #pending = new Set<string>();

  /** `root` null turns the journal off. */
  constructor(root: string | null, instance: string, log: Logger) {
    this.#root = root;
    this.#lease = ownLease(instance);
    this.#log = log;
  }

  /** The session of an id; 404 when there is none. An id that is being recovered is waited for. */
  async get(id: string): Promise<CloudSession> {
    if (this.#pending.has(id)) await this.#recovering;
    const stored = this.#sessions.get(id);
    if (!stored) throw new AppError("not_found", `Cloud session not found: ${id}`);
    return stored.session;
  }
  list(): CloudSession[] {
    return [...this.#sessions.values()].map((stored) => stored.session);
  }
  /** Octrees that a session still needs, current, drawn or miss overlay. */
  octreeIds(): string[] {
    return this.list().flatMap(({ state: { meta } }) =>
      [meta.octree_cache_id, meta.rendered_octree_cache_id, meta.miss_octree_cache_id].filter((id) => id !== null),
    );
  }

  /**
   * Writes a session's columns to the store. Nothing is visible yet: `register` publishes, `discard` undoes.
   * Takes over the references in `columns`. A full disk is not an error here: the session then lives in memory only.
   */
  async stage(columns: ReadonlyMap<string, ColumnRef>, track: Track): Promise<StagedSession> {
    let id = randomBytes(4).toString("hex");
    while (this.#sessions.has(id) || this.#pending.has(id) || (await this.#taken(id))) {
      id = randomBytes(4).toString("hex");
    }
    const staged = new StagedSession(id, this.#root, this.#lease, columns);
    try {
      await staged.write(track, this.#log);
    } catch (error) {
      await staged.discard();
      throw error;
    }
    return staged;
  }

  /** True when another backend of this data folder has a session of that id. */
  async #taken(id: string): Promise<boolean> {
    if (this.#root === null) return false;
    const found = await Promise.all(
      [id, `${id}${STAGING}`].map((name) => stat(join(this.#root as string, name)).catch(() => undefined)),
    );
    return found.some((info) => info !== undefined);
  }

  /** Publishes a staged session: the journal's first record is flushed, then the id answers. The last step of a create. */
  async register(staged: StagedSession, meta: CloudMeta): Promise<CreatedSession> {
    const disk = await staged.install(meta, this.#log);
    const session = new CloudSession(staged.id, { columns: staged.columns, meta }, (_, change) =>
      this.#persist(staged.id, change),
    );
    this.#sessions.set(staged.id, disk ? { session, disk } : { session });
    if (disk) void this.#syncColumns(session, disk.folder, staged.files, disk.journal);
    return { session, unsaved_reason: staged.unsavedReason };
  }

  /** Frees a session and its folder. False for an unknown id. */
  async delete(id: string): Promise<boolean> {
    if (this.#pending.has(id)) await this.#recovering;
    const stored = this.#sessions.get(id);
    if (!stored) return false;
    this.#sessions.delete(id);
    stored.session.close();
    if (stored.disk) await this.#removeFolder(stored.disk);
    return true;
  }

  /** Removes every session and its folder: the clean end of a window. */
  async deleteAll(): Promise<void> {
    this.#closing = true; // what is not recovered yet stays for the next start
    await this.#recovering;
    const ends = await Promise.allSettled([...this.#sessions.keys()].map((id) => this.delete(id)));
    for (const end of ends) {
      if (end.status === "rejected") this.#log.error({ err: end.reason }, "a session's folder was not removed");
    }
  }

  /** Lets go of everything and leaves the folders for the next start. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#recovering;
    for (const { session, disk } of this.#sessions.values()) {
      await session
        .durable()
        .catch((error: unknown) => this.#log.error({ err: error, session: session.id }, "last edit was not saved"));
      session.close();
      await disk?.journal.close();
    }
    this.#sessions.clear();
  }

  /** Brings back the sessions of a backend that died. Their ids answer as soon as this has listed them. */
  async recover(): Promise<void> {
    if (!this.#root) return;
    await mkdir(this.#root, { recursive: true, mode: 0o700 }); // scans are nobody else's business
    const entries = await readdir(this.#root);
    const damaged = entries.filter((name) => name.endsWith(".damaged"));
    if (damaged.length > 0)
      this.#log.warn({ folder: this.#root, damaged }, "folders of sessions that could not be recovered");
    const names = entries.filter((name) => /^[0-9a-f]{8}$/.test(name));
    for (const name of names) this.#pending.add(name);
    this.#recovering = this.#recoverAll(this.#root, names);
    void this.#removeAbandonedStaging(this.#root);
  }
  /** Settles when recovery has finished. */
  recovered(): Promise<void> {
    return this.#recovering;
  }

  async #recoverAll(root: string, names: string[]): Promise<void> {
    for (const id of names) {
      if (this.#closing) return; // the next start goes on
      const folder = join(root, id);
      try {
        if (await mayClaim(folder, this.#lease)) await this.#recoverOne(id, folder);
      } catch (error) {
        if (!isDamage(error)) {
          this.#log.error({ err: error, session: id }, "session could not be recovered; the next start tries again");
          continue; // no memory, no handles: nothing wrong with the folder
        }
        this.#log.error({ err: error, session: id }, "session could not be recovered; its folder is kept as .damaged");
        await setAside(folder).catch((cause: unknown) => this.#log.error({ err: cause }, "rename failed"));
      } finally {
        this.#pending.delete(id);
      }
    }
  }

  async #recoverOne(id: string, folder: string): Promise<void> {
    const { journal, state, unsynced } = await readSessionFolder(folder);
    const session = new CloudSession(id, state, (_, change) => this.#persist(id, change));
    this.#sessions.set(id, { session, disk: { folder, journal, nextFile: nextFileNumber(await readdir(folder)) } });
    if (unsynced.length > 0) void this.#syncColumns(session, folder, unsynced, journal);
    this.#log.info({ session: id, points: state.columns.get("positions")?.length }, "session recovered");
  }

  async #persist(id: string, change: CloudChange): Promise<void> {
    const stored = this.#sessions.get(id);
    if (!stored?.disk) return;
    const { disk } = stored;
    const files: Record<string, string | null> = {};
    for (const [key, column] of change.columns ?? []) {
      if (column === null) {
        files[key] = null;
        continue;
      }
      const file = `${disk.nextFile}.col`;
      disk.nextFile += 1;
      await this.#writeColumn(column, join(disk.folder, file));
      files[key] = file;
    }
    await disk.journal.append({ type: "commit", columns: files, meta: change.meta ?? {} });
  }

  async #writeColumn(column: ColumnRef, path: string): Promise<void> {
    try {
      await columnFiles.writeColumnFile(column.native, path).promise;
      await columnFiles.syncColumnFile(path).promise;
    } catch (error) {
      await rm(path, { force: true }); // a full disk must not fill further with halves
      throw error;
    }
  }

  /** The power-loss half of durability, after the answer: until the record is there, recovery verifies checksums. */
  async #syncColumns(session: CloudSession, folder: string, files: readonly string[], journal: Journal): Promise<void> {
    try {
      for (const file of files) {
        if (session.closed) return;
        await columnFiles.syncColumnFile(join(folder, file)).promise;
      }
      if (!session.closed) await journal.append({ type: "synced" });
    } catch (error) {
      if (!session.closed) this.#log.warn({ err: error, session: session.id }, "columns not flushed to the disk yet");
    }
  }

  async #removeFolder({ folder, journal }: SessionDisk): Promise<void> {
    await journal.close();
    const doomed = `${folder}.${process.pid}.deleted`;
    try {
      await rename(folder, doomed); // from here on no restart finds it, even if the removal is cut short
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // gone already: as wanted
    }
    await rm(doomed, { recursive: true, force: true });
  }

  async #removeAbandonedStaging(root: string): Promise<void> {
    for (const name of await readdir(root).catch(() => [] as string[])) {
      try {
        const abandoned = name.endsWith(".deleted") || (name.endsWith(STAGING) && !(await isOwned(join(root, name))));
        if (abandoned) await rm(join(root, name), { recursive: true, force: true });
      } catch (error) {
        this.#log.debug({ err: error, name }, "leftover not removed; its owner or the next start does it");
      }
    }
  }
}

/** The folder itself is broken, rather than the attempt to read it. */
function isDamage(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === "invalid_file" || code === "not_found" || code === "ENOENT";
}

async function isOwned(folder: string): Promise<boolean> {
  const owner = await readLease(join(folder, LEASE));
  if (owner) return leaseAlive(owner);
  const { mtimeMs } = await stat(folder); // its lease is written first; without one it is seconds old or abandoned
  return Date.now() - mtimeMs < 60_000;
}

function nextFileNumber(names: string[]): number {
  return 1 + Math.max(-1, ...names.map((name) => Number(/^(\d+)\.col$/.exec(name)?.[1] ?? -1)));
}
