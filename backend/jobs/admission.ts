import { AppError } from "../../shared/errors.ts";
import {
  ADMISSION_POLL_MS,
  AVAILABLE_MEMORY_SHARE,
  MIN_ADMISSION_BUDGET_BYTES,
  UNKNOWN_MEMORY_BUDGET_BYTES,
} from "../../shared/limits.ts";
import type { MemoryStatus } from "../native/core/platform.ts";
import type { Job } from "./job.ts";

/** Progress message while a run waits for its admission. */
export const WAITING_LABEL = "Waiting for memory";

export interface MemoryBudget {
  readonly budget_bytes: number;
  readonly budget_fraction: number;
  readonly budget_source: "env" | "fraction";
  /** The budget that admission currently uses. */
  readonly admission_budget_bytes: number;
}

export interface BudgetSettings {
  /** Budget fixed by the environment, bytes, used as it is. */
  readonly pinned_bytes: number | undefined;
  /** Otherwise: share of the machine's memory, 0.05..1. */
  readonly fraction: number;
}

/** The memory budget: the pinned value, else a share of the machine's memory, limited by the free memory. */
export function memoryBudget(settings: BudgetSettings, memory: MemoryStatus): MemoryBudget {
  const { pinned_bytes, fraction } = settings;
  if (pinned_bytes !== undefined) {
    return {
      budget_bytes: pinned_bytes,
      budget_fraction: fraction,
      budget_source: "env",
      admission_budget_bytes: pinned_bytes,
    };
  }
  const { physical_bytes, available_bytes } = memory;
  const budget_bytes = physical_bytes > 0 ? Math.floor(fraction * physical_bytes) : UNKNOWN_MEMORY_BUDGET_BYTES;
  const free = Math.floor(AVAILABLE_MEMORY_SHARE * available_bytes);
  const admission_budget_bytes =
    available_bytes > 0 ? Math.max(Math.min(budget_bytes, free), MIN_ADMISSION_BUDGET_BYTES) : budget_bytes;
  return { budget_bytes, budget_fraction: fraction, budget_source: "fraction", admission_budget_bytes };
}

export interface AdmittedOperation {
  readonly label: string;
  readonly bytes: number;
  /** Since it was admitted. */
  readonly seconds: number;
}

export interface AdmissionLog {
  info(fields: object, message: string): void;
}

interface Entry {
  readonly label: string;
  readonly bytes: number;
  admittedAt: number;
}

interface Waiter {
  readonly entry: Entry;
  readonly admit: () => void;
}

/**
 * Assigns memory to operations. An operation that does not fit the budget waits, visible to the user and cancelable; if
 * nothing else is admitted it runs alone. None is refused. Admission is first come, first served, so that small
 * operations do not starve a large one.
 */
export class Admission {
  readonly #admitted = new Set<Entry>();
  readonly #queue: Waiter[] = [];
  readonly #budgetBytes: () => number;
  readonly #log: AdmissionLog;
  readonly #onPressure: () => void;
  #timer: NodeJS.Timeout | undefined;

  /**
   * `budgetBytes` is called for every decision, so that memory freed by other programs counts. `onPressure` is called
   * when an operation has to wait, to free memory that can be freed.
   */
  constructor(
    budgetBytes: () => number,
    log: AdmissionLog = { info: () => undefined },
    onPressure: () => void = () => undefined,
  ) {
    this.#budgetBytes = budgetBytes;
    this.#log = log;
    this.#onPressure = onPressure;
  }

  get admittedCount(): number {
    return this.#admitted.size;
  }

  /** The current budget, and the bytes assigned to admitted operations. */
  memory(): { readonly budget_bytes: number; readonly admitted_bytes: number } {
    return { budget_bytes: this.#budgetBytes(), admitted_bytes: this.#admittedBytes() };
  }

  operations(): AdmittedOperation[] {
    const now = performance.now();
    return [...this.#admitted].map(({ label, bytes, admittedAt }) => ({
      label,
      bytes,
      seconds: (now - admittedAt) / 1000,
    }));
  }

  /**
   * Runs `body` when `bytes` fit the budget. Errors: canceled, without running `body`, if the job is canceled while it
   * waits. Never nest calls: an operation that waits inside an admitted one would wait for itself.
   */
  async run<T>(job: Job, label: string, bytes: number, body: () => Promise<T>): Promise<T> {
    if (!(bytes >= 0)) throw new AppError("internal", `admission of "${label}" with an estimate of ${bytes} bytes`);
    job.checkpoint();
    const entry: Entry = { label, bytes, admittedAt: 0 };
    if (this.#queue.length === 0 && this.#fits(entry)) this.#admit(entry);
    else await job.whileUnadmitted(WAITING_LABEL, () => this.#wait(entry, job.signal));
    const giveBack = () => {
      if (this.#admitted.delete(entry)) this.#look();
    };
    job.holdsMemory(giveBack);
    try {
      return await body();
    } finally {
      giveBack();
    }
  }

  #fits(entry: Entry): boolean {
    if (this.#admitted.size === 0) return true;
    return this.#admittedBytes() + entry.bytes <= this.#budgetBytes();
  }

  #admittedBytes(): number {
    return [...this.#admitted].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #admit(entry: Entry): void {
    if (this.#admitted.size === 0) {
      const budget = this.#budgetBytes();
      const { label, bytes } = entry;
      if (bytes > budget) this.#log.info({ label, bytes, budget }, "over the memory budget, running it alone");
    }
    entry.admittedAt = performance.now();
    this.#admitted.add(entry);
  }

  #wait(entry: Entry, signal: AbortSignal): Promise<void> {
    const { label, bytes } = entry;
    return new Promise((resolve, reject) => {
      const longWait = setTimeout(() => this.#log.info({ label, bytes }, "waiting for memory"), ADMISSION_POLL_MS);
      longWait.unref();
      const settle = () => {
        clearTimeout(longWait);
        signal.removeEventListener("abort", giveUp);
      };
      const waiter: Waiter = {
        entry,
        admit: () => {
          settle();
          resolve();
        },
      };
      const giveUp = () => {
        settle();
        this.#queue.splice(this.#queue.indexOf(waiter), 1);
        reject(new AppError("canceled", "canceled"));
        this.#look(); // the next in line may be smaller
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#queue.push(waiter);
      this.#onPressure();
      this.#schedule();
    });
  }

  /** Admits operations from the head of the queue while they fit. */
  #look(): void {
    for (let head = this.#queue[0]; head && this.#fits(head.entry); head = this.#queue[0]) {
      this.#queue.shift();
      this.#admit(head.entry);
      head.admit();
    }
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#queue.length === 0) return;
    this.#timer = setTimeout(() => this.#look(), ADMISSION_POLL_MS);
    this.#timer.unref();
  }
}
