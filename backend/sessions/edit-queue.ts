import { AppError } from "../../shared/errors.ts";

/** Progress message while a run waits for the edits before its own. */
export const QUEUE_LABEL = "Waiting for another edit of this cloud";

/** A run that waits for a session; a Job is one. */
export interface QueuedRun {
  readonly signal: AbortSignal;
  /** Shows the label and gives back the run's admitted memory while `wait` is pending. */
  whileQueued(label: string, wait: () => Promise<void>): Promise<void>;
}

/** Lets one body run at a time, in arrival order. A run whose signal aborts while it waits leaves the queue. */
export class EditQueue {
  readonly #label: string;
  #tail: Promise<void> = Promise.resolve();
  #inside = 0;
  #waiting = 0;

  /** `label`: progress message of those that wait. */
  constructor(label = QUEUE_LABEL) {
    this.#label = label;
  }

  /** Bodies that run or wait. */
  get size(): number {
    return this.#inside + this.#waiting;
  }
  /** Bodies that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Errors: those of `body`; canceled, without running it, if `run` is canceled before its turn. */
  async enter<T>(run: QueuedRun | null, body: () => Promise<T>): Promise<T> {
    const before = this.#tail;
    let leave: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    this.#tail = before.then(() => left);
    const idle = this.size === 0;
    this.#waiting += 1;
    try {
      if (idle || !run) await before;
      else await run.whileQueued(this.#label, () => unlessAborted(before, run.signal));
      if (run?.signal.aborted) throw canceled();
    } catch (error) {
      leave();
      throw error;
    } finally {
      this.#waiting -= 1;
    }
    this.#inside += 1;
    try {
      return await body();
    } finally {
      this.#inside -= 1;
      leave();
    }
  }

  /** Resolves when the bodies that run or wait at the call have ended or left. */
  settled(): Promise<void> {
    return this.#tail;
  }
}

const canceled = () => new AppError("canceled", "canceled");

/** Settles with the work, or is canceled when the signal aborts first. */
export function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(canceled());
    if (signal.aborted) return giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
