import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { AppError } from "../../shared/errors.ts";
import { KEEPALIVE_MS } from "../../shared/limits.ts";
import type { Job } from "../jobs/job.ts";
import { errorText } from "../jobs/native-error.ts";
import type { JobRegistry } from "../jobs/registry.ts";
import { toAppError } from "./errors.ts";
import { jsonStream } from "./json-stream.ts";
import { type HeldJson, holdJson } from "./native-text.ts";
import { withoutPaths } from "./private-paths.ts";
import { labelOf } from "./run-stream.ts";

/*
 * Answers a run with plain JSON, for clients that cannot read progress markers (docs/wire.md). One row per state:
 *
 * state    sends                                          leaves when
 * quiet    nothing; the status can still be chosen        the run settles, or 5 s have passed
 * settled  the result (200), or the failure's own status  last byte
 * open     200, x-run-id, 4 spaces; 4 more every 5 s      the run settles
 * done     the result                                     last byte
 * failed   {success: false, error, code, ...}             last byte
 *
 * In every state, a client that disconnects cancels the run.
 */

const SPACES = Buffer.from("    ");

type Outcome<T extends object> = HeldJson<T> | { readonly error: AppError };

interface Run<T> {
  readonly label: string;
  readonly body: (job: Job) => Promise<T>;
  /** Further fields of the response when a run fails after the status was sent. */
  readonly failedTail: object;
}

/** Answers with a run's result as plain JSON. Errors: those of the run, if it fails within the first 5 s. */
export async function plainRun<T extends object>(
  reply: FastifyReply,
  jobs: JobRegistry,
  { label, body, failedTail }: Run<T>,
): Promise<FastifyReply> {
  let job: Job | undefined;
  const onStart = (started: Job) => {
    job = started;
  };
  const held = async (started: Job) => holdJson(await body(started)); // the ending run releases its columns
  const running: Promise<Outcome<T>> = jobs
    .run(held, { label, onStart, shown: withoutPaths(reply.request) })
    .catch((error: unknown) => ({ error: toAppError(error) }));
  reply.raw.once("close", () => job?.cancel()); // has no effect once the run has ended
  if (reply.raw.destroyed) job?.cancel();
  if (job) reply.header("x-run-id", job.id);
  const early = await within(KEEPALIVE_MS, running);
  if (early && "error" in early) throw early.error;
  const readable = Readable.from(early ? jsonStream(early.value) : late(running, failedTail));
  readable.once("close", () => void running.then(dropHeld)); // also when the client disconnects before the first byte
  return reply.type("application/json; charset=utf-8").send(readable);
}

/** Like plainRun, for routes without a stream. The result may contain native columns. */
export const sendAnswer = <T extends object>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
): Promise<FastifyReply> => plainRun(reply, jobs, { label: labelOf(reply), body, failedTail: {} });

const dropHeld = <T extends object>(outcome: Outcome<T>): void => {
  if (!("error" in outcome)) outcome.release();
};

async function* late<T extends object>(running: Promise<Outcome<T>>, failedTail: object): AsyncGenerator<Uint8Array> {
  let outcome: Outcome<T> | undefined;
  while (!outcome) {
    yield SPACES;
    outcome = await within(KEEPALIVE_MS, running);
  }
  yield* jsonStream("error" in outcome ? failure(outcome.error, failedTail) : outcome.value);
}

function failure(error: AppError, failedTail: object): object {
  const canceled = error.code === "canceled" ? { canceled: true, cancelled: true } : {};
  return { success: false, error: errorText(error), code: error.code, ...canceled, ...failedTail };
}

/** Result of `work`, or undefined if it takes longer than `ms`. */
async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
