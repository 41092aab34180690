import { randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import type { Logger } from "pino";
import { type CloudMeta, type CloudSession, type CloudState, NO_MISSES } from "./cloud-session.ts";
import type { ColumnRef } from "./column-ref.ts";
import type { WithRoom } from "./full-disk.ts";
import type { Birth } from "./journal-records.ts";
import type { Lease } from "./process-lease.ts";
import { placeRestored } from "./restored-group.ts";
import { RestoredSession } from "./restored-session.ts";
import { type Child, confirmBorn, placeAll, syncPlaced } from "./session-births.ts";
import type { SessionDisk, Track } from "./session-disk.ts";
import { StagedSession } from "./staged-session.ts";
import type { Stored } from "./stored-session.ts";
import { NOTHING_TO_UNDO } from "./undo.ts";

/** Result of register(). */
export interface CreatedSession {
  readonly session: CloudSession;
  /** Why the session will not survive a crash; null if it will. */
  readonly unsaved_reason: string | null;
}

/** Where new sessions are kept. */
interface Home {
  /** Null: sessions have no copy on disk. */
  readonly root: string | null;
  readonly lease: Lease;
  readonly log: Logger;
  readonly withRoom: WithRoom;
  /** True for the id of a session, open or not. */
  isTaken(id: string): boolean;
  add(id: string, state: Omit<CloudState, "version">, copy: Omit<Stored, "session">): CloudSession;
  remove(id: string): Promise<unknown>;
  /** The folder of a session that is open for edits. */
  diskOf(id: string): SessionDisk | undefined;
}

/** How sessions come into the store: staged, where nobody sees them, then registered. */
export class NewSessions {
  readonly #home: Home;
  /** The removal of files of discarded sessions. */
  #leaving: Promise<void> = Promise.resolve();

  constructor(home: Home) {
    this.#home = home;
  }

  async #newId(): Promise<string> {
    let id = randomBytes(4).toString("hex");
    while (this.#home.isTaken(id) || (await this.#isOnDisk(id))) id = randomBytes(4).toString("hex");
    return id;
  }

  /** True if another backend with the same data folder has a session of this id. */
  async #isOnDisk(id: string): Promise<boolean> {
    const { root } = this.#home;
    if (root === null) return false;
    const names = await readdir(root).catch(() => [] as string[]); // missing: the write that follows says so
    return names.some((name) => name.startsWith(id)); // staged, damaged and deleted ones too
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
    const { root, lease, log, withRoom } = this.#home;
    const staged = new StagedSession(await this.#newId(), root, lease, columns, mustBeSaved);
    try {
      await staged.write(track, log, withRoom);
    } catch (error) {
      await staged.discard();
      throw error;
    }
    return staged;
  }

  /**
   * Discards many staged sessions: no answer waits until their files are gone, which takes a millisecond or more each. A
   * failure is logged; the next start removes what is left.
   */
  discardAll(staged: readonly StagedSession[]): void {
    const { log } = this.#home;
    for (const one of staged) {
      one.release();
      this.#leaving = this.#leaving
        .then(() => one.discard())
        .catch((err: unknown) =>
          log.error({ err, session: one.id }, "the files of a discarded session were not removed"),
        );
    }
  }
  /** Resolves when the files of all discarded sessions are gone. */
  settled(): Promise<void> {
    return this.#leaving;
  }

  /** Publishes a staged session, the last step of a create: flushes the first journal record, then adds the session. */
  async register(staged: StagedSession, meta: CloudMeta): Promise<CreatedSession> {
    const { root, log } = this.#home;
    await staged.describe(meta, undefined, log);
    const disk = await staged.place(log);
    await syncPlaced(root, disk ? [disk] : []);
    const session = this.#publish(staged, meta, disk);
    disk?.flushLater();
    return { session, unsaved_reason: staged.unsavedReason };
  }

  #publish(staged: StagedSession, meta: CloudMeta, disk: SessionDisk | undefined): CloudSession {
    const state = { columns: staged.handOver(), misses: NO_MISSES, undo: NOTHING_TO_UNDO, meta };
    return this.#home.add(staged.id, state, { disk, unsavedReason: staged.unsavedReason });
  }

  /** A session to be filled with the columns of a project; invisible until `registerRestored`, `discard` removes it. */
  async restore(): Promise<RestoredSession> {
    const { root, lease, withRoom } = this.#home;
    const restored = new RestoredSession(await this.#newId(), root, lease);
    try {
      await withRoom(() => restored.begin());
    } catch (error) {
      await restored.discard();
      throw error;
    }
    return restored;
  }

  /**
   * Publishes restored sessions together, all or none, even if the process crashes. A failure publishes none; the caller
   * discards them.
   */
  async registerRestored(restored: readonly RestoredSession[]): Promise<CloudSession[]> {
    const { root, lease, log } = this.#home;
    const disks = await placeRestored(restored, root, lease, log);
    const sessions = restored.map((one, i) =>
      this.#home.add(one.id, one.handOver(), { disk: disks[i], unsavedReason: null }),
    );
    for (const disk of disks) disk?.flushLater();
    return sessions;
  }

  /** A new birth token for children of a session: their journals refer to the parent until they are confirmed. */
  birthOf(parent: CloudSession): Birth {
    return { parent: parent.id, token: randomBytes(8).toString("hex") };
  }

  /** Begins the journal of a child. Required before `registerChildren`; may run while other children are built. */
  describe({ staged, meta }: Child, birth: Birth): Promise<void> {
    return staged.describe(meta, birth, this.#home.log);
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
    const { root, log, diskOf, remove } = this.#home;
    const born: CloudSession[] = [];
    const disks = await placeAll(children, root, log);
    try {
      for (const [i, { staged, meta }] of children.entries()) born.push(this.#publish(staged, meta, disks[i]));
      await commit(birth.token);
    } catch (error) {
      for (const { id } of born) await remove(id);
      throw error;
    }
    void confirmBorn(birth, born, diskOf, log).then(() => {
      for (const disk of disks) disk?.flushLater(); // afterwards, because large files would delay the journals
    });
    return born;
  }
}
