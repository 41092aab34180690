import { ApiError, CanceledError, type RunProgress } from "../../../shared/client/index.ts";
import { Signal } from "./signal.ts";

export type JobState = "running" | "done" | "failed" | "canceled";

/** A piece of work that the user waits for. */
export interface Job {
  readonly id: number;
  readonly title: string;
  readonly state: JobState;
  /** 0..1; null = unknown. */
  readonly progress: number | null;
  readonly stage: string;
  /** Of Date.now(). */
  readonly started: number;
  readonly ended: number | null;
}

/** What a running job passes on to the calls of the client. */
export interface JobRun {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Pick<RunProgress, "progress" | "message">) => void;
}

const KEPT = 8;

/** Jobs of this page, the newest first; ended ones are dropped after a few. */
export class Jobs {
  readonly list = new Signal<readonly Job[]>([]);
  readonly #controllers = new Map<number, AbortController>();
  readonly #onFailure: (title: string, error: unknown) => void;
  #next = 1;

  constructor(onFailure: (title: string, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  /** Runs `body` as a job. Undefined if it was canceled or failed; a failure has then been reported. */
  async run<T>(title: string, body: (run: JobRun) => Promise<T>): Promise<T | undefined> {
    const id = this.#next++;
    const controller = new AbortController();
    this.#controllers.set(id, controller);
    const job: Job = { id, title, state: "running", progress: null, stage: "", started: Date.now(), ended: null };
    const ended = this.list.value.filter(({ state }) => state !== "running").slice(0, KEPT - 1);
    const running = this.list.value.filter(({ state }) => state === "running");
    this.list.set([job, ...running, ...ended]);
    const onProgress: JobRun["onProgress"] = ({ progress, message }) => this.#change(id, { progress, stage: message });
    try {
      const value = await body({ signal: controller.signal, onProgress });
      this.#change(id, { state: "done", progress: 1, ended: Date.now() });
      return value;
    } catch (error) {
      const canceled = error instanceof CanceledError;
      this.#change(id, { state: canceled ? "canceled" : "failed", ended: Date.now() });
      if (!canceled) this.#onFailure(title, error);
      return undefined;
    } finally {
      this.#controllers.delete(id);
    }
  }
  cancel(id: number): void {
    this.#controllers.get(id)?.abort();
  }
  #change(id: number, change: Partial<Job>): void {
    this.list.set(this.list.value.map((job) => (job.id === id ? { ...job, ...change } : job)));
  }
}

/** The sentence of an error for the user. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** True if the service could not be reached. */
export const isLost = (error: unknown): boolean => error instanceof ApiError && error.status === 0;
