import { randomBytes } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import type { NativeJob } from "../native/core/handles.ts";
import { withThreads } from "../native/core/threads.ts";
import { fromNative } from "./native-error.ts";

/** The progress of a run, for the user. `progress` 0..1, null = unknown. */
export interface JobProgress {
  readonly progress: number | null;
  readonly message: string;
}

/** A native phase inside a stage, and its share of the stage's progress. */
export interface PhaseWeight {
  readonly name: string;
  readonly weight: number;
  /** What the user sees during the phase; absent = its name. */
  readonly message?: (done: number, total: number) => string;
}

interface Stage {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly phases: readonly PhaseWeight[];
}

/** What a run waits for: part of the memory budget, or other edits of its session. */
export type WaitsFor = "memory" | "session";

export interface Releasable {
  release(): void;
}

/** Limit of queued progress for a reader that does not read; the newest entries are kept. */
const MAX_QUEUED = 64;

/**
 * One cancelable run. Services call stage() before each part and track() for every native op, so that a cancel reaches
 * the running op and its progress is shown. The overall progress never decreases.
 */
export class Job {
  /** 32 lower-case hex digits, unguessable. */
  readonly id = randomBytes(16).toString("hex");
  /** Threads of each native op; 0 = all cores. */
  readonly threads: number = 0;
  readonly #abort = new AbortController();
  readonly #natives = new Set<NativeJob<unknown>>();
  readonly #parts = new Set<Job>(); // a set instead of signal listeners: a run may have hundreds of parts
  readonly #adopted: Releasable[] = [];
  #stage: Stage = { label: "", from: 0, to: 1, phases: [] };
  #staged = false;
  #queue: JobProgress[] = [];
  #last: JobProgress = { progress: null, message: "" };
  #highest = 0;
  #waiting = false;
  #giveBack: () => void = () => undefined;
  #queued: { readonly waits_for: WaitsFor; readonly since: number } | undefined;

  get canceled(): boolean {
    return this.#abort.signal.aborted;
  }
  /** Aborted by cancel(); for APIs that accept a signal (file streams, child processes). */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Cancels the run, its parts and its running native ops. Idempotent. */
  cancel(): void {
    if (this.canceled) return;
    this.#abort.abort(new AppError("canceled", "canceled"));
    for (const native of this.#natives) native.cancel();
    for (const part of this.#parts) part.cancel();
  }

  /** Throws `canceled` if the run is canceled. Call it before every step that cannot be undone. */
  checkpoint(): void {
    if (this.canceled) throw new AppError("canceled", "canceled");
  }

  /**
   * Begins the next stage of the run. The progress of tracked ops is mapped to [from, to] of the whole, 0..1. With
   * `phases`, each named native phase gets its weighted share of this window and shows its own name; without, the op
   * counts as one phase and `label` is shown. Contains a checkpoint: never call it after a commit.
   */
  stage(label: string, from: number, to: number, phases: readonly PhaseWeight[] = []): void {
    if (!(from >= 0 && from <= to && to <= 1)) {
      throw new AppError("internal", `stage "${label}" has the window [${from}, ${to}]; it must lie in [0, 1]`);
    }
    if (phases.some(({ weight }) => !(weight > 0))) {
      throw new AppError("internal", `stage "${label}" has a phase without a positive weight`);
    }
    this.checkpoint();
    this.#stage = { label, from, to, phases };
    this.#staged = true;
    this.#enqueue({ progress: from, message: label });
  }

  /** Reports progress of TypeScript code (files written, trees done) as a fraction 0..1 of the current stage. */
  advance(fraction: number, message: string = this.#stage.label): void {
    this.checkpoint();
    const { from, to } = this.#stage;
    this.#enqueue({ progress: from + (to - from) * Math.min(1, Math.max(0, fraction)), message });
  }

  /**
   * A part of this run whose progress is not shown. It is canceled with the run, or alone; the run owns what it adopts.
   * `threads`: threads of each of its native ops; 0 = all cores.
   */
  quiet(threads = this.threads): Job {
    const part = new QuietJob(this, threads);
    this.#parts.add(part);
    if (this.canceled) part.cancel();
    return part;
  }

  /** Runs `body` with a quiet part of this run and releases what the part adopted when `body` settles. */
  async scoped<T>(body: (part: Job) => Promise<T>): Promise<T> {
    const part = new ScopedJob(this.threads);
    this.#parts.add(part);
    if (this.canceled) part.cancel();
    try {
      return await body(part);
    } finally {
      this.#parts.delete(part);
      part.releaseAdopted();
    }
  }

  /** Shows `label` with unknown progress until `body` settles, then the previous progress again. */
  async whileWaiting<T>(label: string, body: () => Promise<T>): Promise<T> {
    const before = this.#last;
    this.#waiting = true;
    this.#enqueue({ progress: null, message: label });
    try {
      return await body();
    } finally {
      this.#waiting = false;
      if (this.#staged) this.#enqueue(before);
    }
  }

  /** The memory that admission assigned to this run; `giveBack` ends the assignment, once or more often. */
  holdsMemory(giveBack: () => void): void {
    this.#giveBack = giveBack;
  }

  /**
   * Like whileWaiting, for the wait behind other edits of a session. Gives the admitted memory back for good: what
   * follows is the commit, and an edit before it that waits for memory would otherwise wait for this run.
   */
  whileQueued(label: string, wait: () => Promise<void>): Promise<void> {
    this.#giveBack();
    return this.#waitFor("session", label, wait);
  }

  /** Like whileWaiting, for the wait for admission. */
  whileUnadmitted(label: string, wait: () => Promise<void>): Promise<void> {
    return this.#waitFor("memory", label, wait);
  }

  /** What the run waits for, and for how long; undefined if it does not wait. */
  get queued(): { readonly waits_for: WaitsFor; readonly seconds: number } | undefined {
    if (!this.#queued) return undefined;
    const { waits_for, since } = this.#queued;
    return { waits_for, seconds: (performance.now() - since) / 1000 };
  }

  async #waitFor(waits_for: WaitsFor, label: string, wait: () => Promise<void>): Promise<void> {
    this.#queued = { waits_for, since: performance.now() };
    try {
      await this.whileWaiting(label, wait);
    } finally {
      this.#queued = undefined;
    }
  }

  /** The progress since the last call, oldest first; empty if nothing changed. */
  takeProgress(): JobProgress[] {
    const native = this.#waiting ? undefined : this.#nativeProgress();
    if (native) this.#enqueue(native);
    const taken = this.#queue;
    this.#queue = [];
    return taken;
  }

  /** Passes ownership of a resource to the run, which releases it at its end. Retain it to keep it for longer. */
  adopt<T extends Releasable>(resource: T): T {
    this.#adopted.push(resource);
    return resource;
  }

  /** Releases an adopted resource before the run ends. */
  releaseEarly(resource: Releasable): void {
    const at = this.#adopted.indexOf(resource);
    if (at < 0) throw new Error("the run does not own this resource");
    this.#adopted.splice(at, 1);
    resource.release();
  }

  /** Releases the adopted resources, newest first and all of them even if one throws. The registry calls it once. */
  releaseAdopted(): void {
    const failures: unknown[] = [];
    for (const resource of this.#adopted.splice(0).reverse()) {
      try {
        resource.release();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "resources of the run could not be released");
  }

  /** Runs one native op, canceled with the run. Its errors are thrown as AppError with the native code. */
  async track<T>(start: () => NativeJob<T>): Promise<T> {
    this.checkpoint();
    let native: NativeJob<T> | undefined;
    try {
      native = withThreads(this.threads, start);
      this.#natives.add(native);
      return await native.promise;
    } catch (error) {
      throw fromNative(error);
    } finally {
      if (native) {
        if (!this.#waiting) this.#enqueueLast(native);
        this.#natives.delete(native);
      }
    }
  }

  #enqueueLast(native: NativeJob<unknown>): void {
    const shown = this.#map(native);
    if (shown) this.#enqueue(shown);
  }

  #nativeProgress(): JobProgress | undefined {
    const newest = [...this.#natives].at(-1);
    return newest && this.#map(newest);
  }

  #map(native: NativeJob<unknown>): JobProgress | undefined {
    const { phase, done, total } = native.progress();
    if (phase === "") return undefined; // the op has not opened its first phase
    const { label, from, to, phases } = this.#stage;
    const part = total > 0 ? Math.min(1, done / total) : 0;
    if (!this.#staged) return { progress: null, message: phase }; // its share of the whole is unknown
    const at = phases.findIndex(({ name }) => name === phase);
    if (at < 0) return { progress: phases.length > 0 ? this.#highest : from + (to - from) * part, message: label };
    const sum = phases.reduce((total_, { weight }) => total_ + weight, 0);
    const before = phases.slice(0, at).reduce((total_, { weight }) => total_ + weight, 0);
    const share = (before + (phases[at]?.weight ?? 0) * part) / sum;
    return { progress: from + (to - from) * share, message: phases[at]?.message?.(done, total) ?? phase };
  }

  #enqueue(next: JobProgress): void {
    const progress = next.progress === null ? null : Math.max(this.#highest, Math.round(next.progress * 1e4) / 1e4);
    if (progress !== null) this.#highest = progress;
    if (progress === this.#last.progress && next.message === this.#last.message) return;
    this.#last = { progress, message: next.message };
    this.#queue.push(this.#last);
    if (this.#queue.length > MAX_QUEUED) this.#queue.shift();
  }
}

class QuietJob extends Job {
  readonly #parent: Job;
  constructor(
    parent: Job,
    override readonly threads: number,
  ) {
    super();
    this.#parent = parent;
  }
  override adopt<T extends Releasable>(resource: T): T {
    return this.#parent.adopt(resource);
  }
}

class ScopedJob extends Job {
  constructor(override readonly threads: number) {
    super();
  }
}
