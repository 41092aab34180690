import { AppError, isErrorCode } from "../../shared/errors.ts";

/** An error of the native core (code = a name of cpp/core/error.h) as AppError; anything without a code is internal. */
export function fromNative(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  return new AppError(isErrorCode(code) ? code : "internal", errorText(error), undefined, { cause: error });
}

/** The sentence of any thrown value; never empty, never a stack. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error) || "unknown error";
}
