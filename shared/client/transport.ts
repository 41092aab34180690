import { CLIENT_CANCEL_WAIT_MS } from "../limits.ts";
import { type RunOutcome, RunStreamParser } from "../wire/run-stream.ts";
import { ApiError, CanceledError, errorOfAnswer } from "./errors.ts";

export interface ClientOptions {
  /** Like http://127.0.0.1:8008. */
  readonly baseUrl: string;
  /** Sent as Bearer token. */
  readonly token?: string;
  /** Default: the global fetch. */
  readonly fetch?: typeof fetch;
}

/** What a run tells before its result. `run_id` from the first call on. */
export interface RunProgress {
  readonly progress: number | null;
  readonly message: string;
  readonly run_id: string | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Time without any byte from the service, ms. */
  readonly timeoutMs?: number;
}
export interface RunOptions extends CallOptions {
  readonly onProgress?: (progress: RunProgress) => void;
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** One fetch with an idle clock, and the state of its run. */
class Exchange {
  readonly abort = new AbortController();
  runId: string | undefined;
  timedOut = false;
  #clock: ReturnType<typeof setTimeout> | undefined;
  readonly #timeoutMs: number;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.touch();
  }
  /** The service said something: the clock starts again. */
  touch(): void {
    clearTimeout(this.#clock);
    this.#clock = setTimeout(() => {
      this.timedOut = true;
      this.abort.abort();
    }, this.#timeoutMs);
  }
  end(): void {
    clearTimeout(this.#clock);
  }
}

export class Transport {
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof fetch;

  constructor({ baseUrl, token, fetch: custom }: ClientOptions) {
    this.#base = baseUrl.replace(/\/+$/, "");
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#fetch = custom ?? ((input, init) => fetch(input, init)); // a bare fetch loses its `this` in browsers
  }

  /** A plain answer, whole. */
  async bytes(call: Call, options: CallOptions = {}): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    await this.#exchange(call, options, (chunk) => {
      chunks.push(chunk);
    });
    const out = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const chunk of chunks) {
      out.set(chunk, at);
      at += chunk.length;
    }
    return out;
  }

  async json(call: Call, options: CallOptions = {}): Promise<unknown> {
    return JSON.parse(new TextDecoder().decode(await this.bytes(call, options)));
  }

  /**
   * A streamed run. Cancels through the service first, then drops the connection. A result that arrives whole after a
   * late cancel is returned: the service has committed it.
   * Errors: ApiError for a refusal (its status) or a late failure (status 200), CanceledError.
   */
  async run(call: Call, options: RunOptions = {}): Promise<RunOutcome & { kind: "json" | "frame" | "points" }> {
    const parser = new RunStreamParser();
    let runId: string | undefined;
    await this.#exchange(call, options, (chunk, exchange) => {
      for (const { progress, message, run_id, canceled, error } of parser.push(chunk)) {
        runId ??= run_id;
        exchange.runId = runId;
        if (!canceled && error === undefined) options.onProgress?.({ progress, message, run_id: runId });
      }
    });
    const outcome = parser.finish();
    if (outcome.kind === "canceled") throw new CanceledError(runId);
    if (outcome.kind === "failed") throw new ApiError(200, outcome.code, outcome.error, outcome.tail);
    return outcome;
  }

  async #exchange(
    call: Call,
    { signal, timeoutMs = call.timeoutMs }: CallOptions,
    onChunk: (chunk: Uint8Array, exchange: Exchange) => void,
  ): Promise<void> {
    if (signal?.aborted) throw new CanceledError(undefined);
    const exchange = new Exchange(timeoutMs);
    const cancel = () => void this.#cancelThenDrop(exchange);
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const response = await connected(call.path, this.#send(call, exchange.abort.signal));
      exchange.touch();
      if (!response.ok) {
        throw errorOfAnswer(response.status, response.statusText, await connected(call.path, response.text()));
      }
      await readBody(call.path, response, exchange, onChunk);
    } catch (error) {
      if (exchange.timedOut) {
        throw new ApiError(0, "timeout", `no answer from ${call.path} within ${timeoutMs / 1000} s`, undefined);
      }
      if (signal?.aborted) throw new CanceledError(exchange.runId);
      throw error;
    } finally {
      exchange.end();
      exchange.abort.abort(); // a body nobody reads any more
      signal?.removeEventListener("abort", cancel);
    }
  }

  #send(call: Call, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...this.#headers, ...call.headers };
    if (call.json !== undefined) headers["content-type"] = "application/json";
    const body = call.form ?? (call.json === undefined ? undefined : JSON.stringify(call.json));
    return this.#fetch(`${this.#base}${call.path}`, {
      method: call.method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** The service unwinds the run on the POST; dropping the connection first would leave it to notice. */
  async #cancelThenDrop(exchange: Exchange): Promise<void> {
    if (exchange.runId !== undefined) {
      const path = `/api/cancel/${encodeURIComponent(exchange.runId)}`;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), CLIENT_CANCEL_WAIT_MS);
      // Its failure changes nothing: dropping the connection cancels as well.
      await this.#send({ method: "POST", path, timeoutMs: 0 }, late.signal).catch(() => undefined);
      clearTimeout(timer);
    }
    exchange.abort.abort();
  }
}

/** Every failure of the connection itself gets one face. */
function connected<T>(path: string, step: Promise<T>): Promise<T> {
  return step.catch((cause: unknown) => {
    throw new ApiError(0, "network", `${path}: the connection to the service failed`, undefined, { cause });
  });
}

async function readBody(
  path: string,
  response: Response,
  exchange: Exchange,
  onChunk: (chunk: Uint8Array, exchange: Exchange) => void,
): Promise<void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await connected(path, reader.read());
      if (done) return;
      exchange.touch();
      onChunk(value, exchange);
    }
  } finally {
    reader.releaseLock();
  }
}
