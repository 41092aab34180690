import { CLIENT_CANCEL_WAIT_MS } from "../limits.ts";
import { type RunOutcome, RunStreamParser } from "../wire/run-stream.ts";
import { EventParser, type ServerEvent } from "../wire/sse.ts";
import { ApiError, CanceledError, errorOfAnswer } from "./errors.ts";

export interface ClientOptions {
  /** URL of the service, such as http://127.0.0.1:8008. */
  readonly baseUrl: string;
  /** Access token of the service, sent as Bearer token. */
  readonly token?: string;
  /** Default: the global fetch. */
  readonly fetch?: typeof fetch;
}

/** Progress of a run: fraction 0..1 (null = unknown), stage, and the run id, which the first call already contains. */
export interface RunProgress {
  readonly progress: number | null;
  readonly message: string;
  readonly run_id: string | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Maximum time without any byte from the service, ms. */
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
  /** A PHB1 frame, sent instead. */
  readonly frame?: Uint8Array<ArrayBuffer>;
  readonly form?: FormData;
  /** Bytes, sent as they are. */
  readonly blob?: Blob;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** One fetch with its idle timeout, and the state of its run. */
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
  /** Restarts the idle timeout after data arrived. */
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
    this.#fetch = custom ?? ((input, init) => fetch(input, init)); // in browsers, an unbound fetch fails
  }

  /** Returns the whole body of a plain response. */
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
   * Reads a streamed run. The signal first cancels the run through the service, then drops the connection. If the whole
   * result arrives despite the cancel, it is returned, because the service has committed it.
   * Errors: ApiError for a rejected request (its status) or a failure inside the stream (status 200); CanceledError.
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

  /** Reads a run that is reported as Server-Sent Events. Signal and errors are those of run(). */
  async events(call: Call, options: RunOptions = {}): Promise<unknown> {
    const parser = new EventParser();
    const reader = new RunEvents(options.onProgress);
    await this.#exchange(call, options, (chunk, exchange) => {
      for (const event of parser.push(chunk)) reader.take(event);
      exchange.runId = reader.runId;
    });
    return reader.result();
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
      exchange.abort.abort(); // stops an unread body
      signal?.removeEventListener("abort", cancel);
    }
  }

  #send(call: Call, signal: AbortSignal): Promise<Response> {
    const headers: Record<string, string> = { ...this.#headers, ...call.headers };
    if (call.frame !== undefined || call.blob !== undefined) headers["content-type"] = "application/octet-stream";
    else if (call.json !== undefined) headers["content-type"] = "application/json";
    const body =
      call.form ?? call.blob ?? call.frame ?? (call.json === undefined ? undefined : JSON.stringify(call.json));
    return this.#fetch(`${this.#base}${call.path}`, {
      method: call.method,
      headers,
      signal,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Cancels with a POST, which the service handles at once, and then drops the connection. */
  async #cancelThenDrop(exchange: Exchange): Promise<void> {
    if (exchange.runId !== undefined) {
      const path = `/api/cancel/${encodeURIComponent(exchange.runId)}`;
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), CLIENT_CANCEL_WAIT_MS);
      // A failure can be ignored: dropping the connection also cancels the run.
      await this.#send({ method: "POST", path, timeoutMs: 0 }, late.signal).catch(() => undefined);
      clearTimeout(timer);
    }
    exchange.abort.abort();
  }
}

/** What the events of a run come to. */
class RunEvents {
  runId: string | undefined;
  #ended: ServerEvent | undefined;
  readonly #onProgress: RunOptions["onProgress"];

  constructor(onProgress: RunOptions["onProgress"]) {
    this.#onProgress = onProgress;
  }
  take(event: ServerEvent): void {
    if (event.event === "run_id") this.runId = (JSON.parse(event.data) as { run_id: string }).run_id;
    else if (event.event === "progress") {
      const { progress, message } = JSON.parse(event.data) as { progress: number; message: string };
      this.#onProgress?.({ progress, message, run_id: this.runId });
    } else if (["result", "canceled", "error"].includes(event.event)) this.#ended = event;
  }
  result(): unknown {
    if (!this.#ended) throw new ApiError(200, "network", "the answer ended before its result", undefined);
    const value: unknown = JSON.parse(this.#ended.data);
    if (this.#ended.event === "canceled") throw new CanceledError(this.runId);
    if (this.#ended.event === "result") return value;
    const { detail, code } = value as { detail: string; code?: string };
    throw new ApiError(200, code, detail, value);
  }
}

/** Codes of its own limits. Browsers have none. */
const NODE_WAITS_NO_LONGER: ReadonlySet<unknown> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

function codeOfCause(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? cause.code : undefined;
}

/** Converts every connection failure to the same ApiError. */
function connected<T>(path: string, step: Promise<T>): Promise<T> {
  return step.catch((cause: unknown) => {
    if (NODE_WAITS_NO_LONGER.has(codeOfCause(cause))) {
      const detail = `no answer from ${path} within 300 s: fetch of Node.js waits no longer. The service has canceled the request. Pass createClient a fetch with a longer limit (docs/embedding.md)`;
      throw new ApiError(0, "timeout", detail, undefined, { cause });
    }
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
