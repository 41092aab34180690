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
import { jsonChunks } from "./json-stream.ts";
import { plainRun } from "./plain-run.ts";

/*
 * The stream of a run (contract: wire, sections 4 to 6). One row per state:
 *
 * state     sends                                              leaves when
 * opened    marker {progress: null, message: "", run_id}       at once
 * running   a marker per change; 4 spaces per 5 s of silence   the run settles
 * done      queued markers, then the tail                      last byte
 * canceled  marker {canceled, cancelled: true}, no tail        last byte
 * failed    marker {error}; JSON routes: a JSON tail as well   last byte
 *
 * A client that hangs up raises the run's cancel flag at once, while the run is still listed.
 */

const SPACES = new Uint8Array(4).fill(0x20);

type Outcome<T> = { readonly value: T } | { readonly error: AppError };

export interface StreamOptions extends Pick<RunOptions, "label"> {
  /** What the JSON tail of a failure has beside `error`. */
  readonly failedTail?: object;
}

interface Tail<T> {
  /** Bytes of a result. */
  readonly of: (value: T) => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** A result that nobody will read. */
  readonly drop: (value: T) => void;
  /** What a failure is repeated with as a JSON tail behind its marker; undefined = the marker alone. */
  readonly failure: object | undefined;
}

/**
 * Answers with a run: progress markers, then `body`'s result as a JSON tail; the JSON alone when the request would
 * rather have that (plain-run.ts). Whatever must have a status of its own (404, 400, 409) must be thrown before this
 * call; later failures are in-band.
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
  return open(reply, jobs, body, { of: jsonChunks, drop: () => undefined, failure: failedTail }, options);
}

/** The same with a PHB1 frame as tail. A failure is the error marker alone: no frame bytes follow. */
export function streamFrameJob(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<FrameResult>,
  options: Pick<RunOptions, "label"> = {},
): FastifyReply {
  const held = async (job: Job) => holdFrame(await body(job)); // retained before the run releases what it adopted
  return open(reply, jobs, held, { of: frameChunks, drop: (frame) => frame.release(), failure: undefined }, options);
}

function open<T>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
  tail: Tail<T>,
  { label = labelOf(reply) }: Pick<RunOptions, "label">,
): FastifyReply {
  const stream = new RunStream(jobs, body, label, tail);
  reply.raw.once("close", () => stream.hangUp());
  if (reply.raw.destroyed) stream.hangUp();
  const readable = Readable.from(stream.chunks(), { objectMode: true, highWaterMark: 1 });
  readable.once("error", (err) => reply.log.error({ err }, "a run's stream broke"));
  return reply.type("application/octet-stream").send(readable);
}

const labelOf = ({ request }: FastifyReply): string => `${request.method} ${request.routeOptions.url ?? ""}`;

/** One run and the bytes that tell of it. */
class RunStream<T> {
  #job: Job | undefined;
  #outcome: Outcome<T> | undefined;
  #left = false;
  #tailTaken = false;
  #wake: () => void = () => undefined;
  readonly #tail: Tail<T>;

  constructor(jobs: JobRegistry, body: (job: Job) => Promise<T>, label: string, tail: Tail<T>) {
    this.#tail = tail;
    const onStart = (job: Job) => {
      this.#job = job;
    };
    const settle = (outcome: Outcome<T>) => {
      this.#outcome = outcome;
      this.#dropIfUnread();
      this.#wake();
    };
    jobs.run(body, { label, onStart }).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error: toAppError(error) }),
    );
  }

  /** The client is gone. A run that has ended takes no notice. */
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
      this.hangUp(); // torn down early: the same as a client that left; after the end it does nothing
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

  /** Sleeps, but not past the end of the run or of the connection. */
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
