import { AppError, type ErrorCode, isErrorCode } from "../../shared/errors.ts";

/** Codes for failures of system calls; all others are `io`. */
const SYSTEM_CODES: Readonly<Record<string, ErrorCode>> = {
  ENOSPC: "no_space",
  EDQUOT: "no_space",
  ENOMEM: "out_of_memory",
};

/**
 * Converts an error of the native core (code = a name of cpp/core/error.h) or of a system call to AppError; without a
 * code it becomes `internal`.
 */
export function fromNative(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code, syscall } = (error ?? {}) as { code?: unknown; syscall?: unknown };
  const system = typeof syscall === "string" ? (SYSTEM_CODES[String(code)] ?? "io") : "internal";
  return new AppError(isErrorCode(code) ? code : system, errorText(error), undefined, { cause: error });
}

/** The message of any thrown value; never empty, never a stack. */
export function errorText(error: unknown): string {
  if (error instanceof Error) return error.message || error.name;
  return String(error) || "unknown error";
}
