import { ApiError, CanceledError } from "../../shared/client/index.ts";
import { AppError } from "../../shared/errors.ts";
import { commandLineWords } from "./wording.ts";

export const EXIT = { done: 0, internal: 1, bad_input: 2, canceled: 130 } as const;

/** Failures that the user can fix: the cause is the file or an option. */
const INPUT_CODES: ReadonlySet<string> = new Set([
  "validation",
  "invalid_argument",
  "invalid_file",
  "not_found",
  "unsupported",
]);

/** Exit code of a failed command. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CanceledError || (error instanceof AppError && error.code === "canceled")) return EXIT.canceled;
  if (error instanceof AppError) return INPUT_CODES.has(error.code) ? EXIT.bad_input : EXIT.internal;
  if (!(error instanceof ApiError)) return EXIT.internal;
  if (error.code !== undefined) return INPUT_CODES.has(error.code) ? EXIT.bad_input : EXIT.internal;
  return [400, 404, 415, 422].includes(error.status) ? EXIT.bad_input : EXIT.internal;
}

/** The message for the user, in the words of the command line; the stack for a bug. */
export function messageOf(error: unknown): string {
  if (error instanceof AppError || error instanceof ApiError) return commandLineWords(error.message);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
