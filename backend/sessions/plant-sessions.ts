import { randomBytes } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import { AwakeClock } from "./awake-clock.ts";
import { EditQueue, type QueuedRun } from "./edit-queue.ts";

/** Native memory of a plant, owned by its session. */
export interface OwnedPlant {
  release(): void;
}

/** A plant that can grow on. */
export interface PlantSession<P extends OwnedPlant> {
  /** 32 hexadecimal digits, unguessable. */
  readonly id: string;
  readonly plant_type: string;
  /** Seconds since 1970-01-01 UTC. */
  readonly created_at: number;
  readonly plant: P;
}

export interface PlantSessionLimits {
  readonly max_sessions: number;
  /** A session unused for this long is closed; 0 = never. Time in which the computer sleeps does not count. */
  readonly idle_ms: number;
}

interface Entry<P extends OwnedPlant> {
  readonly id: string;
  readonly plant_type: string;
  readonly created_at: number;
  readonly queue: EditQueue;
  plant: P;
  /** By the clock of the sessions. */
  usedAt: number;
  closed: boolean;
}

const WAITING = "Waiting for another request of this plant";
const SWEEP_MS = 30_000;

/**
 * The plant sessions of the process. Those that nobody has used for longest, beyond a number, and those idle for too long
 * are closed; one with a request in progress stays. One request at a time works with a session.
 */
export class PlantSessions<P extends OwnedPlant> {
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry<P>>();
  readonly #limits: PlantSessionLimits;
  readonly #clock = new AwakeClock(2 * SWEEP_MS);
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: PlantSessionLimits) {
    this.#limits = limits;
  }

  /** Keeps a plant, which the session owns from now on. */
  add(plant_type: string, plant: P): PlantSession<P> {
    const id = randomBytes(16).toString("hex");
    const queue = new EditQueue(WAITING);
    const [created_at, usedAt] = [Date.now() / 1000, this.#clock.now()];
    const entry = { id, plant_type, plant, created_at, usedAt, queue, closed: false };
    this.#entries.set(id, entry);
    this.#evict();
    this.#timer ??= setInterval(() => this.#evict(), SWEEP_MS).unref();
    return entry;
  }

  /** Counts as a use. Errors: not_found. */
  get(id: string): PlantSession<P> {
    return this.#used(id);
  }

  /** In the order of their creation; no use. */
  list(): PlantSession<P>[] {
    this.#evict();
    return [...this.#entries.values()].sort((a, b) => a.created_at - b.created_at);
  }

  /** Errors: not_found. A request in progress ends as if the session were there. */
  delete(id: string): void {
    this.#close(this.#used(id));
  }

  /**
   * Runs `body` when no other request works with the session. The plant it returns replaces the session's; null keeps it.
   * Errors: not_found, also if the session is closed while this request waits; those of `body`.
   */
  async use<T>(id: string, run: QueuedRun, body: (plant: P) => Promise<{ next: P | null; value: T }>): Promise<T> {
    const entry = this.#used(id);
    try {
      return await entry.queue.enter(run, async () => {
        if (entry.closed) throw notFound(id);
        const { next, value } = await body(entry.plant);
        if (next) {
          entry.plant.release();
          entry.plant = next;
        }
        return value;
      });
    } finally {
      entry.usedAt = this.#clock.now();
      if (entry.closed && entry.queue.size === 0) entry.plant.release();
    }
  }

  /** Closes every session. */
  close(): void {
    for (const entry of [...this.#entries.values()]) this.#close(entry);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #used(id: string): Entry<P> {
    this.#evict();
    const entry = this.#entries.get(id);
    if (!entry) throw notFound(id);
    entry.usedAt = this.#clock.now();
    this.#entries.delete(id); // to the end of the order
    this.#entries.set(id, entry);
    return entry;
  }

  #evict(): void {
    const { max_sessions, idle_ms } = this.#limits;
    const idleSince = idle_ms > 0 ? this.#clock.now() - idle_ms : Number.NEGATIVE_INFINITY;
    let excess = this.#entries.size - max_sessions;
    const newest = [...this.#entries.keys()].at(-1);
    for (const entry of [...this.#entries.values()]) {
      if (entry.queue.size > 0) continue;
      if (entry.usedAt >= idleSince && (excess <= 0 || entry.id === newest)) continue;
      this.#close(entry);
      excess -= 1;
    }
  }

  #close(entry: Entry<P>): void {
    this.#entries.delete(entry.id);
    entry.closed = true;
    if (entry.queue.size === 0) entry.plant.release(); // otherwise when the last request has left
  }
}

const notFound = (id: string): AppError => new AppError("not_found", `Plant session not found: ${id.slice(0, 64)}`);
