import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { AppError } from "../../shared/errors.ts";
import { KEEPALIVE_MS, PROGRESS_IDLE_POLL_MS, PROGRESS_POLL_MS } from "../../shared/limits.ts";
import type { Job, JobProgress } from "../jobs/job.ts";
import type { JobRegistry, RunOptions } from "../jobs/registry.ts";
import { toAppError } from "./errors.ts";
import { withoutPaths } from "./private-paths.ts";

type Outcome<T> = { readonly value: T } | { readonly error: AppError };

/** The bytes of a run's stream: PHP1 markers (stream.ts) or Server-Sent Events (sse.ts). */
export interface StreamForm<T> {
  readonly type: string;
  readonly keepalive: Uint8Array;
  readonly started: (run_id: string) => Uint8Array;
  readonly progress: (shown: JobProgress) => Uint8Array;
  /** Encodes a result. */
  readonly result: (value: T) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Releases a result that will not be sent. */
  readonly drop: (value: T) => void;
  readonly canceled: () => Uint8Array;
  readonly failed: (error: AppError) => Iterable<Uint8Array>;
}

/** Starts a run and answers with its stream. Errors of `body` are reported inside the stream. */
export function sendRun<T>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
  form: StreamForm<T>,
  label = labelOf(reply),
): FastifyReply {
  const stream = new RunStream(jobs, body, { label, shown: withoutPaths(reply.request) }, form);
  reply.raw.once("close", () => stream.hangUp());
  if (reply.raw.destroyed) stream.hangUp();
  const readable = Readable.from(stream.chunks(), { objectMode: true, highWaterMark: 1 });
  readable.once("error", (err) => reply.log.error({ err }, "a run's stream broke"));
  return reply.type(form.type).send(readable);
}

export const labelOf = ({ request }: FastifyReply): string => `${request.method} ${request.routeOptions.url ?? ""}`;

/** One run and the stream that reports it. */
class RunStream<T> {
  #job: Job | undefined;
  #outcome: Outcome<T> | undefined;
  #left = false;
  #tailTaken = false;
  #wake: () => void = () => undefined;
  readonly #form: StreamForm<T>;

  constructor(jobs: JobRegistry, body: (job: Job) => Promise<T>, options: RunOptions, form: StreamForm<T>) {
    this.#form = form;
    const onStart = (job: Job) => {
      this.#job = job;
    };
    const settle = (outcome: Outcome<T>) => {
      this.#outcome = outcome;
      this.#dropIfUnread();
      this.#wake();
    };
    jobs.run(body, { ...options, onStart }).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error: toAppError(error) }),
    );
  }

  /** Cancels the run after the client disconnects; has no effect once the run has ended. */
  hangUp(): void {
    this.#left = true;
    this.#job?.cancel();
    this.#dropIfUnread();
    this.#wake();
  }

  #dropIfUnread(): void {
    if (!this.#left || this.#tailTaken || !this.#outcome || !("value" in this.#outcome)) return;
    this.#tailTaken = true;
    this.#form.drop(this.#outcome.value);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      if (this.#job) yield this.#form.started(this.#job.id);
      yield* this.#running();
      if (!this.#left) yield* this.#ending();
    } finally {
      this.hangUp(); // cancels if the stream is closed early; no effect after the end
    }
  }

  async *#running(): AsyncGenerator<Uint8Array> {
    let sentAt = performance.now();
    let delay = PROGRESS_POLL_MS;
    while (!this.#outcome && !this.#left) {
      await this.#pause(delay);
      const shown = this.#job?.takeProgress() ?? [];
      for (const progress of shown) yield this.#form.progress(progress);
      delay = shown.length > 0 ? PROGRESS_POLL_MS : PROGRESS_IDLE_POLL_MS;
      if (shown.length > 0) sentAt = performance.now();
      else if (!this.#outcome && performance.now() - sentAt >= KEEPALIVE_MS) {
        yield this.#form.keepalive;
        sentAt = performance.now();
      }
    }
  }

  /** Waits `ms`, or until the run or the connection ends. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#outcome || this.#left) return resolve();
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async *#ending(): AsyncGenerator<Uint8Array> {
    const outcome = this.#outcome;
    if (!outcome) return;
    for (const progress of this.#job?.takeProgress() ?? []) yield this.#form.progress(progress);
    if ("value" in outcome) {
      this.#tailTaken = true;
      yield* this.#form.result(outcome.value);
    } else if (outcome.error.code === "canceled") {
      yield this.#form.canceled();
    } else {
      yield* this.#form.failed(outcome.error);
    }
  }
}
