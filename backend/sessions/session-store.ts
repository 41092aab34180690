import type { Logger } from "pino";
import { AppError } from "../../shared/errors.ts";
import { type CloudChange, CloudSession, type CloudState } from "./cloud-session.ts";
import { FileProof } from "./file-proof.ts";
import type { WithRoom } from "./full-disk.ts";
import { whileThere } from "./gone-folder.ts";
import { NewSessions } from "./new-sessions.ts";
import { type Lease, ownLease } from "./process-lease.ts";
import { ReadOnlyFolder } from "./read-only-folder.ts";
import { type RecoveredSession, RecoveryQueue } from "./recovery-queue.ts";
import { SessionDisk } from "./session-disk.ts";
import { removeAll } from "./session-removal.ts";
import { isSpillable, SessionSpiller, type SpillLimits } from "./session-spill.ts";
import { type SessionSummary, summaryOf } from "./session-summary.ts";
import { octreesOf, openForEdits, type Stored, writtenDisk } from "./stored-session.ts";

const POLL_MS = 30_000;

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
  readonly #new: NewSessions;
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
    this.#new = new NewSessions({
      root,
      lease: this.#lease,
      log,
      withRoom: (work) => whileThere(root ?? "", () => this.#withRoom(work)),
      isTaken: (id) => this.#sessions.has(id) || this.#arrivals?.expects(id) === true,
      add: (id, state, copy) => this.#add(id, state, copy).session,
      remove: (id) => this.delete(id),
      diskOf: (id) => writtenDisk(this.#sessions.get(id)),
    });
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

  stage: NewSessions["stage"] = (...call) => this.#new.stage(...call);
  discardAll: NewSessions["discardAll"] = (...call) => this.#new.discardAll(...call);
  register: NewSessions["register"] = (...call) => this.#new.register(...call);
  restore: NewSessions["restore"] = () => this.#new.restore();
  registerRestored: NewSessions["registerRestored"] = (restored) => this.#new.registerRestored(restored);
  birthOf: NewSessions["birthOf"] = (parent) => this.#new.birthOf(parent);
  describe: NewSessions["describe"] = (child, birth) => this.#new.describe(child, birth);
  registerChildren: NewSessions["registerChildren"] = (...call) => this.#new.registerChildren(...call);

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
    await this.#new.settled();
  }

  /** Releases everything and keeps the folders for the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#arrivals?.stop();
    await this.#left;
    await this.#new.settled();
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
    await whileThere(disk.folder, () => this.#withRoom(() => disk.save(change)));
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
