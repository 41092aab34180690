import { isPlainObject } from "../wire/bytes.ts";

/** A rejected request or a failed run. `status` 200: the failure was reported inside a stream; 0: no response. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    /** Error code of the service (shared/errors.ts), "timeout" or "network"; undefined if the response had none. */
    readonly code: string | undefined,
    message: string,
    /** `detail` of the body, or the tail of the failed run. */
    readonly detail: unknown,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The run was canceled by this client's signal, by another client or by the shutdown of the service; not a failure. */
export class CanceledError extends Error {
  override readonly name = "CanceledError";
  constructor(readonly run_id: string | undefined) {
    super("canceled");
  }
}

/**
 * Error for a non-2xx response: `detail` if it is a string, else `detail.message` or `message`, else the status line.
 */
export function errorOfAnswer(status: number, statusText: string, body: string): ApiError | CanceledError {
  const value = parsed(body);
  const detail = isPlainObject(value) ? value.detail : undefined;
  const candidates = [
    detail,
    isPlainObject(detail) ? detail.message : undefined,
    isPlainObject(value) ? value.message : undefined,
  ];
  const text = candidates.find((candidate) => typeof candidate === "string" && candidate !== "");
  const code = isPlainObject(value) && typeof value.code === "string" ? value.code : undefined;
  if (code === "canceled") return new CanceledError(undefined);
  return new ApiError(status, code, typeof text === "string" ? text : `HTTP ${status}: ${statusText}`, detail);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // not JSON, such as a page of a proxy: use the status line
  }
}
