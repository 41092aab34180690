import type { FastifyReply } from "fastify";
import { encodeMarker } from "../../shared/wire/php1.ts";
import type { Job } from "../jobs/job.ts";
import { errorText } from "../jobs/native-error.ts";
import type { JobRegistry, RunOptions } from "../jobs/registry.ts";
import { prefersJson } from "./accept.ts";
import { type FrameResult, frameChunks, holdFrame } from "./frame.ts";
import { jsonChunks, jsonStream } from "./json-stream.ts";
import { plainRun } from "./plain-run.ts";
import { labelOf, type StreamForm, sendRun } from "./run-stream.ts";

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

export interface StreamOptions extends Pick<RunOptions, "label"> {
  /** Further fields of the JSON tail that reports a failure. */
  readonly failedTail?: object;
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
  return sendRun(
    reply,
    jobs,
    body,
    markers({ result: jsonStream, drop: () => undefined, failure: failedTail }),
    options.label,
  );
}

/** Like streamJob, with a PHB1 frame as tail. A failure sends the error marker only; no frame follows. */
export function streamFrameJob(
  reply: FastifyReply,
  jobs: JobRegistry,
  body: (job: Job) => Promise<FrameResult>,
  options: Pick<RunOptions, "label"> = {},
): FastifyReply {
  const held = async (job: Job) => holdFrame(await body(job)); // retain columns before the ending run releases them
  return sendRun(
    reply,
    jobs,
    held,
    markers({ result: (frame) => frameChunks(frame, reply.raw), drop: (frame) => frame.release(), failure: undefined }),
    options.label,
  );
}

interface Tail<T> extends Pick<StreamForm<T>, "result" | "drop"> {
  /** Further fields of the JSON tail that follows an error marker; undefined = an error marker without a tail. */
  readonly failure: object | undefined;
}

/** PHP1 markers and a tail. */
function markers<T>({ failure, ...tail }: Tail<T>): StreamForm<T> {
  return {
    ...tail,
    type: "application/octet-stream",
    keepalive: SPACES,
    started: (run_id) => encodeMarker({ progress: null, message: "", run_id }),
    progress: encodeMarker,
    canceled: () => encodeMarker({ progress: null, message: "Canceled", canceled: true }),
    *failed(cause) {
      const error = errorText(cause);
      yield encodeMarker({ progress: null, message: "", error });
      if (failure) yield* jsonChunks({ success: false, error, code: cause.code, ...failure });
    },
  };
}
