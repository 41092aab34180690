import { AppError } from "../../shared/errors.ts";
import { Job, type WaitsFor } from "./job.ts";
import { errorText, fromNative } from "./native-error.ts";

/** One line of the run log. */
export interface RunRecord {
  readonly run_id: string;
  readonly label: string;
  readonly seconds: number;
  readonly outcome: "done" | "canceled" | "failed";
  readonly error?: string;
  /** Resident size of the process at the beginning and end of the run. */
  readonly rss_before_bytes: number;
  readonly rss_after_bytes: number;
}

export interface WaitingRun {
  readonly run_id: string;
  readonly label: string;
  readonly waits_for: WaitsFor;
  readonly seconds: number;
}

export interface RunOptions {
  /** Name in the run log. */
  readonly label?: string;
  /** What the run log shows of an error sentence; default: all of it. */
  readonly shown?: (text: string) => string;
  /** Called with the job before the body starts. */
  readonly onStart?: (job: Job) => void;
}

/** All runs of the process. A run is listed until its body has ended, so that a cancel finds every active run. */
export class JobRegistry {
  readonly #runs = new Map<string, { job: Job; label: string; ended: Promise<unknown> }>();
  readonly #onEnd: (record: RunRecord) => void;
  #closed = false;

  constructor(onEnd: (record: RunRecord) => void = () => undefined) {
    this.#onEnd = onEnd;
  }

  get size(): number {
    return this.#runs.size;
  }

  /**
   * Runs `body` as a cancelable run, releases what it adopted and then settles like it.
   * Errors: those of `body` as AppError; if the run is canceled, always `canceled`.
   */
  run<T>(body: (job: Job) => Promise<T>, options: RunOptions = {}): Promise<T> {
    if (this.#closed) return Promise.reject(new AppError("canceled", "the service is shutting down"));
    const job = new Job();
    const ended = this.#execute(job, body, options);
    this.#runs.set(job.id, { job, label: options.label ?? "", ended });
    const forget = () => this.#runs.delete(job.id);
    ended.then(forget, forget);
    return ended;
  }

  /** Runs that wait, in the order of their begin. */
  waiting(): WaitingRun[] {
    return [...this.#runs].flatMap(([run_id, { job, label }]) =>
      job.queued ? [{ run_id, label, ...job.queued }] : [],
    );
  }

  /** Cancels a run. False for an unknown or finished id; never throws. */
  cancel(id: string): boolean {
    const run = this.#runs.get(id);
    run?.job.cancel();
    return run !== undefined;
  }

  cancelAll(): void {
    for (const { job } of this.#runs.values()) job.cancel();
  }

  /** Cancels every run and refuses new ones. */
  shutdown(): void {
    this.#closed = true;
    this.cancelAll();
  }

  /** Resolves when no run is left, including those that begin meanwhile. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended));
  }

  async #execute<T>(
    job: Job,
    body: (job: Job) => Promise<T>,
    { label = "", onStart, shown = (text) => text }: RunOptions,
  ): Promise<T> {
    const started = performance.now();
    const rss_before_bytes = process.memoryUsage.rss();
    const record = (outcome: RunRecord["outcome"], error?: string) =>
      this.#onEnd({
        run_id: job.id,
        label,
        seconds: (performance.now() - started) / 1000,
        outcome,
        ...(error === undefined ? {} : { error }),
        rss_before_bytes,
        rss_after_bytes: process.memoryUsage.rss(),
      });
    try {
      const value = await this.#releasing(job, body, onStart);
      record("done");
      return value;
    } catch (raw) {
      const error = job.canceled ? new AppError("canceled", "canceled", undefined, { cause: raw }) : fromNative(raw);
      record(error.code === "canceled" ? "canceled" : "failed", shown(errorText(raw)));
      throw error;
    }
  }

  async #releasing<T>(job: Job, body: (job: Job) => Promise<T>, onStart?: (job: Job) => void): Promise<T> {
    try {
      onStart?.(job);
      await Promise.resolve(); // so that the run is listed before the body begins
      return await body(job);
    } finally {
      job.releaseAdopted();
    }
  }
}
