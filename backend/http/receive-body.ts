import type { FastifyRequest } from "fastify";
import { MAX_BODY_BYTES } from "../../shared/limits.ts";
import type { Job } from "../jobs/job.ts";
import { openRequestText, type RequestText } from "../native/core/request-text.ts";
import { tooLarge } from "./body-chunks.ts";
import type { BaseDeps } from "./types.ts";

/** What remains to be received of a body. */
export interface IncomingBody {
  /** Size declared by the request, bytes; undefined if it is sent in chunks. */
  readonly declared: number | undefined;
  /** Chunks that have arrived. */
  readonly first: readonly Buffer[];
  readonly rest: AsyncIterable<Buffer>;
}

export interface ReceiveLimits {
  readonly bytes: number;
  /** Memory for receiving and reading the body, per byte of it. */
  readonly memory_per_byte: number;
  /** First bytes that are passed on; absent = MAX_BODY_BYTES. */
  readonly head_bytes?: number;
}

/** A body in native memory. */
export interface ReceivedBody {
  readonly text: RequestText;
  readonly length: number;
  /** Its first bytes, at least head_bytes of them if it has so many. */
  readonly head: Buffer;
}

/**
 * Receives a body into native memory and reads it with `use`, as a run that ends when the client disconnects. A body
 * above MAX_BODY_BYTES is not received before admission has assigned its memory. Errors: 413, timeout, canceled, and
 * those of `use`.
 */
export async function receiveBody<T extends object>(
  request: FastifyRequest,
  body: IncomingBody,
  limits: ReceiveLimits,
  { jobs, admission }: Pick<BaseDeps, "jobs" | "admission">,
  use: (received: ReceivedBody, job: Job) => Promise<T>,
): Promise<T> {
  const bytes = body.declared ?? limits.bytes; // in chunks: it may be the largest
  const head_bytes = limits.head_bytes ?? MAX_BODY_BYTES;
  const label = `body of ${request.method} ${request.routeOptions.url ?? ""}`;
  let hangUp: () => void = () => undefined;
  const { socket } = request.raw;
  const onStart = (job: Job) => {
    hangUp = () => job.cancel();
    socket.once("close", hangUp);
  };
  try {
    const read = (job: Job) => receive(body, { bytes, head_bytes }, job, use);
    const memory = limits.memory_per_byte * bytes;
    const admitted = (job: Job) => admission.run(job, "Request", memory, () => read(job));
    const result = await jobs.run(bytes > MAX_BODY_BYTES ? admitted : read, { label, onStart });
    if (result === TOO_LARGE) throw tooLarge("the body", limits.bytes);
    return result;
  } finally {
    socket.off("close", hangUp);
  }
}

const TOO_LARGE = Symbol("the body is larger than the endpoint takes");

async function receive<T>(
  { first, rest }: IncomingBody,
  { bytes, head_bytes }: { readonly bytes: number; readonly head_bytes: number },
  job: Job,
  use: (received: ReceivedBody, job: Job) => Promise<T>,
): Promise<T | typeof TOO_LARGE> {
  const text = openRequestText(bytes);
  try {
    const head: Buffer[] = [];
    let length = 0;
    const append = (chunk: Buffer): boolean => {
      if (length + chunk.length > bytes) return false;
      if (length < head_bytes) head.push(chunk);
      length += chunk.length;
      text.append(chunk);
      return true;
    };
    for (const chunk of first) append(chunk);
    for await (const chunk of rest) {
      job.checkpoint();
      if (!append(chunk)) return TOO_LARGE;
    }
    return await use({ text, length, head: Buffer.concat(head) }, job);
  } finally {
    text.release();
  }
}
