import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { AppError } from "../../shared/errors.ts";
import { KEEPALIVE_MS, PROGRESS_IDLE_POLL_MS, PROGRESS_POLL_MS } from "../../shared/limits.ts";
import { encodeMarker } from "../../shared/wire/php1.ts";
import type { Job } from "../jobs/job.ts";
import { errorText } from "../jobs/native-error.ts";
import type { JobRegistry, RunOptions } from "../jobs/registry.ts";
import { prefersJson } from "./accept.ts";
import { toAppError } from "./errors.ts";
import { type FrameResult, frameChunks, holdFrame } from "./frame.ts";
import { jsonChunks, jsonStream } from "./json-stream.ts";
import { plainRun } from "./plain-run.ts";
import { withoutPaths } from "./private-paths.ts";

/*
 * The stream of a run (docs/wire.md, "A run's stream"). One row per state:
 *
 * state     sends                                              leaves when
 * opened    marker {progress: null, message: "", run_id}       at once
 * running   a marker per change; 4 spaces after 5 s without    the run settles
 * done      queued markers, then the tail                      last byte
 * canceled  marker {canceled, cancelled: true}, no tail        last byte
 * failed    marker {error}; JSON routes: a JSON tail as well   last byte
 *
 * When the client disconnects, the run's cancel flag is set at once, while the run is still registered.
 */

const SPACES = new Uint8Array(4).fill(0x20);

type Outcome<T> = { readonly value: T } | { readonly error: AppError };

export interface StreamOptions extends Pick<RunOptions, "label"> {
  /** Further fields of the JSON tail that reports a failure. */
  readonly failedTail?: object;
}

interface Tail<T> {
  /** Encodes a result. */
  readonly of: (value: T) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** Releases a result that will not be sent. */
  readonly drop: (value: T) => void;
  /** Further fields of the JSON tail that follows an error marker; undefined = an error marker without a tail. */
  readonly failure: object | undefined;
}

/**
 * Starts a run and streams progress markers, then the result of `body` as a JSON tail. A request that prefers plain
 * JSON gets the JSON alone (plain-run.ts). Throw errors that need their own status (400, 404, 409) before this call:
 * later failures are reported inside the stream.
 */
export function streamJob<T extends object>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
  { failedTail = {}, ...options }: StreamOptions = {},
): FastifyReply | Promise<FastifyReply> {
  if (prefersJson(reply.request.headers.accept)) {
    return plainRun(reply, jobs, { label: options.label ?? labelOf(reply), body, failedTail });
  }
  return open(reply, jobs, body, { of: jsonStream, drop: () => undefined, failure: failedTail }, options);
}

/** Like streamJob, with a PHB1 frame as tail. A failure sends the error marker only; no frame follows. */
export function streamFrameJob(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<FrameResult>,
  options: Pick<RunOptions, "label"> = {},
): FastifyReply {
  const held = async (job: Job) => holdFrame(await body(job)); // retain columns before the ending run releases them
  return open(reply, jobs, held, { of: frameChunks, drop: (frame) => frame.release(), failure: undefined }, options);
}

function open<T>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
  tail: Tail<T>,
  { label = labelOf(reply) }: Pick<RunOptions, "label">,
): FastifyReply {
  const stream = new RunStream(jobs, body, { label, shown: withoutPaths(reply.request) }, tail);
  reply.raw.once("close", () => stream.hangUp());
  if (reply.raw.destroyed) stream.hangUp();
  const readable = Readable.from(stream.chunks(), { objectMode: true, highWaterMark: 1 });
  readable.once("error", (err) => reply.log.error({ err }, "a run's stream broke"));
  return reply.type("application/octet-stream").send(readable);
}

const labelOf = ({ request }: FastifyReply): string => `${request.method} ${request.routeOptions.url ?? ""}`;

/** One run and the stream that reports it. */
class RunStream<T> {
  #job: Job | undefined;
  #outcome: Outcome<T> | undefined;
  #left = false;
  #tailTaken = false;
  #wake: () => void = () => undefined;
  readonly #tail: Tail<T>;

  constructor(jobs: JobRegistry, body: (job: Job) => Promise<T>, options: RunOptions, tail: Tail<T>) {
    this.#tail = tail;
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
    this.#tail.drop(this.#outcome.value);
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      if (this.#job) yield encodeMarker({ progress: null, message: "", run_id: this.#job.id });
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
      for (const marker of shown) yield encodeMarker(marker);
      delay = shown.length > 0 ? PROGRESS_POLL_MS : PROGRESS_IDLE_POLL_MS;
      if (shown.length > 0) sentAt = performance.now();
      else if (!this.#outcome && performance.now() - sentAt >= KEEPALIVE_MS) {
        yield SPACES;
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
    for (const marker of this.#job?.takeProgress() ?? []) yield encodeMarker(marker);
    if ("value" in outcome) {
      this.#tailTaken = true;
      yield* this.#tail.of(outcome.value);
    } else if (outcome.error.code === "canceled") {
      yield encodeMarker({ progress: null, message: "Canceled", canceled: true });
    } else {
      const error = errorText(outcome.error);
      yield encodeMarker({ progress: null, message: "", error });
      const { failure } = this.#tail;
      if (failure) yield* jsonChunks({ success: false, error, code: outcome.error.code, ...failure });
    }
  }
}
