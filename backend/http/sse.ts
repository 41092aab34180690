import type { FastifyReply } from "fastify";
import type { AppError } from "../../shared/errors.ts";
import type { Job } from "../jobs/job.ts";
import { errorText } from "../jobs/native-error.ts";
import type { JobRegistry } from "../jobs/registry.ts";
import { jsonStream } from "./json-stream.ts";
import { type HeldJson, holdJson } from "./native-text.ts";
import { type StreamForm, sendRun } from "./run-stream.ts";

/*
 * A run as Server-Sent Events (WHATWG HTML, section 9.2). Every event is "event: NAME", "data: JSON" on one line and a
 * blank line:
 *
 * event     data                  sent
 * run_id    {run_id}              first
 * progress  {progress, message}   per change; progress 0..1 never decreases
 * result    the result            last, if the run succeeded
 * canceled  {}                    last, if it was canceled
 * error     {detail, code}        last, if it failed
 *
 * After 5 s without an event a comment line is sent.
 */

const COMMENT = Buffer.from(": \n\n");

const event = (name: string, data: object): Buffer => Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);

/** Starts a run and reports it as Server-Sent Events. Throw errors that need their own status before this call. */
export function sendEvents<T extends object>(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<T>,
): FastifyReply {
  reply.header("cache-control", "no-cache").header("x-accel-buffering", "no");
  const held = async (job: Job) => holdJson(await body(job)); // the ending run releases its columns
  return sendRun(reply, jobs, held, events<T>());
}

function events<T extends object>(): StreamForm<HeldJson<T>> {
  let shown = 0;
  return {
    type: "text/event-stream",
    keepalive: COMMENT,
    started: (run_id) => event("run_id", { run_id }),
    progress: ({ progress, message }) => {
      shown = progress ?? shown; // unknown: the bar keeps its position
      return event("progress", { progress: shown, message });
    },
    async *result({ value, release }) {
      try {
        yield Buffer.from("event: result\ndata: ");
        yield* jsonStream(value);
        yield Buffer.from("\n\n");
      } finally {
        release();
      }
    },
    drop: ({ release }) => release(),
    canceled: () => event("canceled", {}),
    failed: (error: AppError) => [event("error", { detail: errorText(error), code: error.code })],
  };
}
