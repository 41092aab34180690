import { AppError } from "../../../shared/errors.ts";
import { GIB } from "../../../shared/limits.ts";
import { memoryStatus } from "../../native/core/platform.ts";

const gib = (bytes: number) => `${(bytes / GIB).toPrecision(3)} GiB`;

/**
 * Refuses what the machine has no memory for: admission lets a run that is alone go ahead, and the system would end the
 * process. `wayOut`: what to do instead, a sentence without its full stop.
 * Errors: unsupported.
 */
export function checkMemory(what: string, bytes: number, wayOut: string): void {
  const { available_bytes } = memoryStatus();
  if (available_bytes <= 0 || bytes <= available_bytes) return; // 0: not known
  throw new AppError(
    "unsupported",
    `${what} needs about ${gib(bytes)}, but ${gib(available_bytes)} of memory are free; ${wayOut}`,
  );
}
