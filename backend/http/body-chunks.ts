import type { Readable } from "node:stream";
import { AppError } from "../../shared/errors.ts";

/** The error of a body that stopped arriving, 408. */
export function stalledBody(stallS: number): AppError {
  return new AppError(
    "timeout",
    `the body of the request stalled: no byte arrived for ${stallS} s. Send the request again; APP_BODY_STALL_SECONDS sets this limit.`,
  );
}

/** The error of a body above the limit, 413. `what` names the body or its part, with its size. */
export function tooLarge(what: string, limit: number): Error {
  const message = `${what} is larger than this endpoint takes (${limit} bytes)`;
  return Object.assign(new Error(message), { code: "FST_ERR_CTP_BODY_TOO_LARGE", statusCode: 413 });
}

/** Size that the request declares for its body, bytes; undefined if it declares none (chunked). */
export function declaredBytes(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const declared = headers["content-length"];
  return declared === undefined ? undefined : Number(declared);
}

/**
 * The chunks of a body as they arrive. After an error or an early return the connection still carries the response.
 * Errors: timeout if no byte arrives for `stallS`; those of the connection.
 */
export async function* bodyChunks(payload: Readable, stallS: number): AsyncGenerator<Buffer> {
  let stalled: (error: AppError) => void = () => undefined;
  const timer = setTimeout(() => stalled(stalledBody(stallS)), 1000 * stallS);
  const chunks = payload.iterator({ destroyOnReturn: false });
  try {
    for (;;) {
      timer.refresh(); // the time in which the caller uses a chunk does not count
      // One promise per chunk: Promise.race with a lasting one would keep every chunk until the end.
      const { done, value } = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        stalled = reject;
        chunks.next().then(resolve, reject);
      });
      if (done) return;
      yield typeof value === "string" ? Buffer.from(value) : (value as Buffer);
    }
  } finally {
    clearTimeout(timer);
  }
}
