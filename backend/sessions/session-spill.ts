import type { Logger } from "pino";
import { type CloudSession, ownedColumns } from "./cloud-session.ts";
import type { WithRoom } from "./full-disk.ts";
import type { SessionDisk } from "./session-disk.ts";

/** When columns in memory are written to files, so that the memory can be freed. */
export interface SpillLimits {
  /** For sessions idle for this long; 0 = never. */
  readonly idle_ms: number;
  /** For the least recently used sessions beyond this count. */
  readonly max_sessions: number;
}

/** Writes columns that exist in memory only to files. */
export class SessionSpiller {
  readonly #limits: SpillLimits;
  readonly #log: Logger;
  readonly #spilling = new Set<CloudSession>();

  constructor(limits: SpillLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  /** Spills a session and compacts its journal and folder; nothing without a folder. Never rejects. */
  async spill(session: CloudSession, disk: SessionDisk | undefined, withRoom: WithRoom): Promise<void> {
    if (!disk || session.closed || this.#spilling.has(session)) return;
    this.#spilling.add(session);
    try {
      await session.settled(); // the edit that caused this
      await session.read(null, (state) => withRoom(() => disk.prepare(state)));
      await session.edit(null, (edit) => disk.compact(edit));
    } catch (error) {
      if (!session.closed)
        this.#log.warn({ err: error, session: session.id }, "session not compacted; the next attempt follows");
    } finally {
      this.#spilling.delete(session);
    }
  }

  /** Sessions idle for longer than `idle_ms`, and the least recently used beyond the count. */
  due(sessions: readonly CloudSession[], idle_ms = this.#limits.idle_ms || Number.POSITIVE_INFINITY): CloudSession[] {
    const byUse = [...sessions].sort((a, b) => b.lastUsed - a.lastUsed);
    const now = performance.now();
    return byUse.filter((session, rank) => rank >= this.#limits.max_sessions || now - session.lastUsed >= idle_ms);
  }
}

/** True if a column has no file, and nothing is being edited. */
export const isSpillable = (session: CloudSession): boolean => !session.closed && !session.busy && holdsMemory(session);

const holdsMemory = ({ state }: CloudSession): boolean =>
  [...ownedColumns(state)].some(({ file, native }) => file === null && native.bytes > 0);
