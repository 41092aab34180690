import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { type CloudChange, type CloudMeta, CloudSession, type CloudState, NO_MISSES } from "./cloud-session.ts";
import type { ColumnRef } from "./column-ref.ts";
import { FileProof } from "./file-proof.ts";
import type { WithRoom } from "./full-disk.ts";
import type { Birth } from "./journal-records.ts";
import { type Lease, ownLease } from "./process-lease.ts";
import { ReadOnlyFolder } from "./read-only-folder.ts";
import { type RecoveredSession, RecoveryQueue } from "./recovery-queue.ts";
import { placeRestored, RestoredSession } from "./restored-session.ts";
import { type Child, confirmBorn, placeAll, syncPlaced } from "./session-births.ts";
import { SessionDisk, type Track } from "./session-disk.ts";
import { removeAll } from "./session-removal.ts";
import { isSpillable, SessionSpiller, type SpillLimits } from "./session-spill.ts";
import { type SessionSummary, summaryOf } from "./session-summary.ts";
import { StagedSession } from "./staged-session.ts";
import { octreesOf, openForEdits, type Stored, writtenDisk } from "./stored-session.ts";
import { NOTHING_TO_UNDO } from "./undo.ts";

const POLL_MS = 30_000;

/** Result of register(). */
export interface CreatedSession {
  readonly session: CloudSession;
  /** Why the session will not survive a crash; null if it will. */
  readonly unsaved_reason: string | null;
}

/**
 * All cloud sessions of this process and their copies on disk: a journal per session and a file per column. Written
 * columns are mapped from their files, so the system can page them out: a session is never evicted, and a lookup never
 * fails for lack of memory.
 */
export class SessionStore {
  readonly #sessions = new Map<string, Stored>();
  readonly #root: string | null;
  readonly #lease: Lease;
  readonly #log: Logger;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #arrivals: RecoveryQueue | undefined;
  readonly #spiller: SessionSpiller;
  /** Settles when the folders of sessions left are closed. */
  #left: Promise<unknown> = Promise.resolve();
  #withRoom: WithRoom = (work) => work();

  /** False if sessions have no copy on disk. */
  get saved(): boolean {
    return this.#root !== null;
  }

  /** `root` null turns the journal off. */
  constructor(root: string | null, instance: string, log: Logger, limits: SpillLimits) {
    this.#root = root;
    this.#lease = ownLease(instance);
    this.#log = log;
    this.#spiller = new SessionSpiller(limits, log);
    if (root === null) return;
    this.#arrivals = new RecoveryQueue(root, this.#lease, log, (id, found) => this.#bringBack(id, found));
    this.#timer = setInterval(() => {
      void this.spillIdle();
      void this.openReadOnly();
    }, POLL_MS);
    this.#timer.unref();
  }

  /** Sets what frees space when a write finds the disk full. */
  makeRoomBy(withRoom: WithRoom): void {
    this.#withRoom = withRoom;
  }

  /** The session of an id; waits if it is being recovered. Errors: not_found, which says so if it is damaged. */
  async get(id: string): Promise<CloudSession> {
    await this.#arrivals?.arrived(id);
    const stored = this.#sessions.get(id);
    if (!stored) {
      const problem = await this.#arrivals?.unopened.problemOf(id);
      throw new AppError("not_found", problem ? `Cloud session ${id} ${problem}` : `Cloud session not found: ${id}`);
    }
    stored.session.touch();
    stored.proof?.begin();
    return stored.session;
  }
  list(): CloudSession[] {
    return [...this.#sessions.values()].map((stored) => stored.session);
  }
  /** Octrees that sessions need: current, drawn or miss overlay. */
  octreeIds(): string[] {
    return this.list().flatMap(({ state }) => octreesOf(state));
  }
  /** Octrees that a session needs, open or not; none for an unknown id. */
  async octreesOf(id: string): Promise<string[]> {
    await this.#arrivals?.arrived(id);
    const stored = this.#sessions.get(id);
    return stored ? octreesOf(stored.session.state) : ((await this.#arrivals?.unopened.octreesOf(id)) ?? []);
  }
  /** All sessions, open or not, the last used first. Tries again to open those that are not. */
  async summaries(): Promise<SessionSummary[]> {
    await this.#arrivals?.allArrived();
    await this.openReadOnly();
    const open = await Promise.all([...this.#sessions.values()].map(summaryOf));
    const others = (await this.#arrivals?.unopened.summaries()) ?? [];
    return [...open, ...others].sort(
      (a, b) => b.last_used.localeCompare(a.last_used) || a.session_id.localeCompare(b.session_id),
    );
  }

  /**
   * Writes the columns of a new session, which stays invisible until `register`; `discard` removes it. Takes over the
   * references in `columns`. Without `mustBeSaved` a full disk is not an error: the session then exists in memory only.
   */
  async stage(
    columns: ReadonlyMap<string, ColumnRef>,
    track: Track,
    { mustBeSaved = false } = {},
  ): Promise<StagedSession> {
    const staged = new StagedSession(await this.#newId(), this.#root, this.#lease, columns, mustBeSaved);
    try {
      await staged.write(track, this.#log, this.#withRoom);
    } catch (error) {
      await staged.discard();
      throw error;
    }
    return staged;
  }

  async #newId(): Promise<string> {
    let id = randomBytes(4).toString("hex");
    while (this.#sessions.has(id) || this.#arrivals?.expects(id) || (await this.#taken(id))) {
      id = randomBytes(4).toString("hex");
    }
    return id;
  }

  /** A session to be filled with the columns of a project; invisible until `registerRestored`, `discard` removes it. */
  async restore(): Promise<RestoredSession> {
    const restored = new RestoredSession(await this.#newId(), this.#root, this.#lease);
    try {
      await this.#withRoom(() => restored.begin());
    } catch (error) {
      await restored.discard();
      throw error;
    }
    return restored;
  }

  /** Publishes restored sessions together. A failure publishes none; the caller discards them. */
  async registerRestored(restored: readonly RestoredSession[]): Promise<CloudSession[]> {
    const disks = await placeRestored(restored, this.#log);
    await syncPlaced(
      this.#root,
      disks.filter((disk) => disk !== undefined),
    );
    const sessions = restored.map((one, i) => {
      const { session } = this.#add(one.id, one.handOver(), { disk: disks[i], unsavedReason: null });
      return session;
    });
    for (const disk of disks) disk?.flushLater();
    return sessions;
  }

  /** True if another backend with the same data folder has a session of this id. */
  async #taken(id: string): Promise<boolean> {
    if (this.#root === null) return false;
    const names = await readdir(this.#root).catch(() => [] as string[]); // missing: the write that follows says so
    return names.some((name) => name.startsWith(id)); // staged, damaged and deleted ones too
  }

  /** Publishes a staged session, the last step of a create: flushes the first journal record, then adds the session. */
  async register(staged: StagedSession, meta: CloudMeta): Promise<CreatedSession> {
    await staged.describe(meta, undefined, this.#log);
    const disk = await staged.place(this.#log);
    await syncPlaced(this.#root, disk ? [disk] : []);
    const session = this.#publish(staged, meta, disk);
    disk?.flushLater();
    return { session, unsaved_reason: staged.unsavedReason };
  }

  #publish(staged: StagedSession, meta: CloudMeta, disk: SessionDisk | undefined): CloudSession {
    const state = { columns: staged.handOver(), misses: NO_MISSES, undo: NOTHING_TO_UNDO, meta };
    return this.#add(staged.id, state, { disk, unsavedReason: staged.unsavedReason }).session;
  }

  #bringBack(id: string, { read, disk }: RecoveredSession): void {
    const proof = new FileProof(disk.folder, read.unproven, (error) => {
      if (stored.session.closed) return new AppError("not_found", `Cloud session not found: ${id}`); // removed meanwhile
      this.#log.error({ err: error, session: id }, "a column file is damaged; the session is read again");
      this.#leave(stored, { verifyAll: true });
      return error;
    });
    const lastUsed = Math.min(0, read.changed - performance.timeOrigin);
    const stored = this.#add(id, read.state, { disk, proof }, lastUsed);
    if (disk instanceof SessionDisk) disk.flushLater();
  }

  #add(id: string, state: Omit<CloudState, "version">, copy: Omit<Stored, "session">, lastUsed?: number): Stored {
    const start = { lastUsed, proof: copy.proof };
    const session = new CloudSession(id, state, (change) => this.#save(stored, change), start);
    const stored: Stored = { session, ...copy };
    this.#sessions.set(id, stored);
    return stored;
  }

  /** A new birth token for children of a session: their journals refer to the parent until they are confirmed. */
  birthOf(parent: CloudSession): Birth {
    return { parent: parent.id, token: randomBytes(8).toString("hex") };
  }

  /** Begins the journal of a child. Required before `registerChildren`; may run while other children are built. */
  describe({ staged, meta }: Child, birth: Birth): Promise<void> {
    return staged.describe(meta, birth, this.#log);
  }

  /**
   * Publishes the described children of a session together with a change of the parent, all or nothing, even if the
   * process crashes: the children's journals name a token, which `commit` writes to the parent's journal. A restart
   * removes children whose parent lacks the token. A failure, also of `commit`, removes all children.
   */
  async registerChildren(
    birth: Birth,
    children: readonly Child[],
    commit: (births: string) => Promise<void>,
  ): Promise<CloudSession[]> {
    const born: CloudSession[] = [];
    const disks = await placeAll(children, this.#root, this.#log);
    try {
      for (const [i, { staged, meta }] of children.entries()) born.push(this.#publish(staged, meta, disks[i]));
      await commit(birth.token);
    } catch (error) {
      for (const { id } of born) await this.delete(id);
      throw error;
    }
    const diskOf = (id: string) => writtenDisk(this.#sessions.get(id));
    void confirmBorn(birth, born, diskOf, this.#log).then(() => {
      for (const disk of disks) disk?.flushLater(); // afterwards, because large files would delay the journals
    });
    return born;
  }

  /**
   * Frees a session, open or not, and its folders. False for an unknown id. If the folder cannot be removed, the session
   * stays as the disk has it. Errors: conflict if another backend has opened it; any of the disk.
   */
  async delete(id: string): Promise<boolean> {
    await this.#arrivals?.arrived(id);
    if (this.#sessions.has(id)) await this.#arrivals?.done(); // a child being recovered may need its parent's journal
    const stored = this.#sessions.get(id);
    if (stored) {
      this.#sessions.delete(id);
      stored.session.close();
      try {
        await stored.disk?.destroy();
      } catch (error) {
        this.#arrivals?.expect(id);
        throw error;
      }
    }
    const removed = await this.#arrivals?.unopened.remove(id);
    return stored !== undefined || removed === true;
  }

  /** Removes every session and its folder, when a window closes normally. */
  async deleteAll(): Promise<void> {
    clearInterval(this.#timer);
    await this.#arrivals?.stop(); // sessions not yet recovered stay for the next start
    const stored = [...this.#sessions.values()];
    this.#sessions.clear();
    await removeAll(stored, this.#root, this.#log);
  }

  /** Releases everything and keeps the folders for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#arrivals?.stop();
    await this.#left;
    for (const { session, disk } of this.#sessions.values()) {
      await session.settled();
      session.close();
      if (disk instanceof SessionDisk) await disk.close();
    }
    this.#sessions.clear();
  }

  /** Begins the recovery of sessions after a crash. Resolves when they are listed; lookups of their ids then wait. */
  async recover(): Promise<void> {
    await this.#arrivals?.begin();
  }
  /** Resolves when recovery has finished. */
  recovered(): Promise<void> {
    return this.#arrivals?.done() ?? Promise.resolve();
  }

  async #save(stored: Stored, change: CloudChange): Promise<void> {
    const disk = await openForEdits(stored, this.#withRoom, this.#log);
    if (!disk) return;
    await this.#withRoom(() => disk.save(change));
    if (disk.wantsCompaction(stored.session.state)) void this.spill(stored.session); // runs after the edit that is being saved
  }

  /** Opens sessions for edits that were read-only, where that works by now. Never rejects. */
  async openReadOnly(): Promise<void> {
    for (const stored of [...this.#sessions.values()]) {
      if (!(stored.disk instanceof ReadOnlyFolder)) continue;
      await openForEdits(stored, this.#withRoom, this.#log).catch((error: unknown) => {
        this.#log.debug({ err: error, session: stored.session.id }, "session still read-only");
        if ((error as AppError).code === "conflict") this.#leave(stored);
      });
    }
  }

  /** Forgets a session that another backend has taken over, or whose files are damaged; the next request reads it again. */
  #leave({ session, disk }: Stored, { verifyAll = false } = {}): void {
    if (session.closed) return;
    this.#sessions.delete(session.id);
    session.close();
    const closed = disk instanceof SessionDisk ? disk.close() : Promise.resolve();
    this.#left = Promise.allSettled([this.#left, closed]);
    this.#arrivals?.expect(session.id, { after: closed, verifyAll });
  }

  /** Writes columns that exist in memory only to files, and compacts the journal and folder. Never rejects. */
  spill(session: CloudSession): Promise<void> {
    return this.#spiller.spill(session, writtenDisk(this.#sessions.get(session.id)), this.#withRoom);
  }

  /** Spills sessions idle for longer than `idle_ms`, and the least recently used beyond the count. */
  async spillIdle(idle_ms?: number): Promise<void> {
    for (const session of this.#spiller.due(this.list(), idle_ms)) if (isSpillable(session)) await this.spill(session);
  }
}
