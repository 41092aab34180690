import { randomBytes } from "node:crypto";
import { AppError } from "../../shared/errors.ts";
import type { NativeJob } from "../native/core/handles.ts";
import { withThreads } from "../native/core/threads.ts";
import { fromNative } from "./native-error.ts";

/** What the user sees of a run. `progress` null = cannot tell. */
export interface JobProgress {
  readonly progress: number | null;
  readonly message: string;
}

/** A native phase inside a stage and its share of the stage's window. */
export interface PhaseWeight {
  readonly name: string;
  readonly weight: number;
}

interface Stage {
  readonly label: string;
  readonly from: number;
  readonly to: number;
  readonly phases: readonly PhaseWeight[];
}

export interface Releasable {
  release(): void;
}

/** Stages queued for a reader that does not read are bounded; the newest matter. */
const MAX_QUEUED = 64;

/**
 * One cancelable run. Services call stage() before each part and track() for every native op, so cancel and progress
 * reach whatever runs at the moment. The overall fraction never goes backwards.
 */
export class Job {
  /** 32 lower-case hex digits, unguessable. */
  readonly id = randomBytes(16).toString("hex");
  /** Of each native op; 0 = all cores. */
  readonly threads: number = 0;
  readonly #abort = new AbortController();
  readonly #natives = new Set<NativeJob<unknown>>();
  readonly #parts = new Set<Job>(); // and no listeners of the signal: a run may have hundreds
  readonly #adopted: Releasable[] = [];
  #stage: Stage = { label: "", from: 0, to: 1, phases: [] };
  #staged = false;
  #queue: JobProgress[] = [];
  #last: JobProgress = { progress: null, message: "" };
  #highest = 0;
  #waiting = false;

  get canceled(): boolean {
    return this.#abort.signal.aborted;
  }
  /** Aborted by cancel(); hand it to whatever understands signals (file streams, child processes). */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Raises the cancel flag, here and in every native op that runs. Idempotent. */
  cancel(): void {
    if (this.canceled) return;
    this.#abort.abort(new AppError("canceled", "canceled"));
    for (const native of this.#natives) native.cancel();
    for (const part of this.#parts) part.cancel();
  }

  /** Throws `canceled` once the flag is up. Call it before every step that cannot be undone. */
  checkpoint(): void {
    if (this.canceled) throw new AppError("canceled", "canceled");
  }

  /**
   * Opens the next part of the run: what tracked ops report is mapped into [from, to] of the whole, 0..1.
   * With `phases`, each named native phase gets its weighted share of the window and shows its own name; without, the
   * op is taken to have one phase and the label stands. A checkpoint: never call it behind a commit.
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

  /** Progress inside the current stage from TypeScript code (files written, trees done), fraction 0..1 of its window. */
  advance(fraction: number, message: string = this.#stage.label): void {
    this.checkpoint();
    const { from, to } = this.#stage;
    this.#enqueue({ progress: from + (to - from) * Math.min(1, Math.max(0, fraction)), message });
  }

  /**
   * A part of this run whose stages nobody shows: it is canceled with the run, or alone, and what it adopts is the
   * run's. `threads`: of each of its native ops; 0 = all cores.
   */
  quiet(threads = this.threads): Job {
    const part = new QuietJob(this, threads);
    this.#parts.add(part);
    if (this.canceled) part.cancel();
    return part;
  }

  /** Runs `body` with a quiet part of this run that lets go of what it adopted when `body` settles. */
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

  /** Shows `label` with a pulsing bar until `body` settles, then the stage as it was. */
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

  /** Everything to show since the last call, oldest first; empty when nothing moved. */
  takeProgress(): JobProgress[] {
    const native = this.#waiting ? undefined : this.#nativeProgress();
    if (native) this.#enqueue(native);
    const taken = this.#queue;
    this.#queue = [];
    return taken;
  }

  /** Hands a resource to the run: released when the run ends, however it ends. Whoever keeps it retains its own. */
  adopt<T extends Releasable>(resource: T): T {
    this.#adopted.push(resource);
    return resource;
  }

  /** The registry calls this once, when the run has ended. Newest first; one that throws does not keep the others. */
  releaseAdopted(): void {
    const failures: unknown[] = [];
    for (const resource of this.#adopted.splice(0).reverse()) {
      try {
        resource.release();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, "releasing what the run held failed");
  }

  /** Runs one native op under this run's cancel flag. Errors arrive as AppError with the native code. */
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
    if (!this.#staged) return { progress: total > 0 ? part : null, message: phase };
    const at = phases.findIndex(({ name }) => name === phase);
    if (at < 0) return { progress: phases.length > 0 ? this.#highest : from + (to - from) * part, message: label };
    const sum = phases.reduce((total_, { weight }) => total_ + weight, 0);
    const before = phases.slice(0, at).reduce((total_, { weight }) => total_ + weight, 0);
    const share = (before + (phases[at]?.weight ?? 0) * part) / sum;
    return { progress: from + (to - from) * share, message: phase };
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
