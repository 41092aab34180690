import { isPlainObject } from "../wire/bytes.ts";

/** The service said no, or its run failed. `status` 200 = the failure came inside a stream; 0 = no answer at all. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  constructor(
    readonly status: number,
    /** Error code of the service (shared/errors.ts), "timeout" or "network"; undefined when the answer had none. */
    readonly code: string | undefined,
    message: string,
    /** `detail` of the body, or the failed run's tail. */
    readonly detail: unknown,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The run was canceled: by this client's signal, by someone else, or by the service shutting down. Not a failure. */
export class CanceledError extends Error {
  override readonly name = "CanceledError";
  constructor(readonly run_id: string | undefined) {
    super("canceled");
  }
}

/** Error of a non-2xx answer: `detail` if it is text, else `message` beside or inside it, else the status line. */
export function errorOfAnswer(status: number, statusText: string, body: string): ApiError {
  const value = parsed(body);
  const detail = isPlainObject(value) ? value.detail : undefined;
  const candidates = [
    detail,
    isPlainObject(detail) ? detail.message : undefined,
    isPlainObject(value) ? value.message : undefined,
  ];
  const text = candidates.find((candidate) => typeof candidate === "string" && candidate !== "");
  const code = isPlainObject(value) && typeof value.code === "string" ? value.code : undefined;
  return new ApiError(status, code, typeof text === "string" ? text : `HTTP ${status}: ${statusText}`, detail);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // a proxy's page, or nothing: the status line speaks
  }
}
