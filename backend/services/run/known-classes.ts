import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { type ClassCounts, classCounts } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** The classes of a column for a warning about them; null if it has too many different values to hold classes. */
export async function knownClasses(
  column: NativeColumn,
  skip: NativeColumn | null,
  job: Job,
): Promise<ClassCounts | null> {
  try {
    return await job.quiet().track(() => classCounts(column, skip));
  } catch (raw) {
    const error = fromNative(raw);
    if (!job.canceled && error instanceof AppError && error.code === "invalid_argument") return null;
    throw raw;
  }
}
