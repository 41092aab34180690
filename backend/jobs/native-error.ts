import { AppError, type ErrorCode, isErrorCode } from "../../shared/errors.ts";

/** Failures of the operating system that have a code of their own; every other failed system call is `io`. */
const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "no_space",
  EDQUOT: "no_space",
  ENOMEM: "out_of_memory",
};

/**
 * An error of the native core (code = a name of cpp/core/error.h) or of a system call as AppError; anything without a
 * code is internal.
 */
export function fromNative(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  const system = typeof syscall === "string" ? (SYSTEM_CODES[String(code)] ?? "io") : "internal";
  return new AppError(isErrorCode(code) ? code : system, errorText(error), undefined, { cause: error });
}

/** The sentence of any thrown value; never empty, never a stack. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error) || "unknown error";
}
