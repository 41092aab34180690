/**
 * Every failure that the service can report. The code determines the HTTP status (backend/http/errors.ts).
 * The native core uses the same names (cpp/core/error.h), except `validation`, `conflict`, `forbidden`,
 * `unauthorized` and `timeout`.
 */
export const errorCodes = [
  "validation",
  "invalid_argument",
  "invalid_file",
  "not_found",
  "conflict",
  "canceled",
  "forbidden",
  "unauthorized",
  "timeout",
  "out_of_memory",
  "no_space",
  "io",
  "unsupported",
  "internal",
] as const;
export type ErrorCode = (typeof errorCodes)[number];

export function isErrorCode(value: unknown): value is ErrorCode {
  return (errorCodes as readonly unknown[]).includes(value);
}

/**
 * The only error type of the TypeScript side. `message` is shown to users and names the value, the rule and the way
 * out. `details` become further keys of the HTTP body, in addition to `detail` and `code`.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
