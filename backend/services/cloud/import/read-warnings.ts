import type { AssignedColumns } from "../../files/assigned-columns.ts";
import type { SourceCloud } from "../../files/source-cloud.ts";
import { unitWarnings } from "./unit-warnings.ts";

/** Warnings about the values of a file: those of its reader, points left out, times and units. `scale`: of source_units. */
export function readWarnings(cloud: SourceCloud, assigned: AssignedColumns, scale: number | null): string[] {
  const warnings = [...cloud.warnings, ...assigned.warnings];
  if (cloud.nonfinite_dropped > 0 && cloud.kind !== "ascii") {
    // the text reader reports them with line numbers
    warnings.push(`${cloud.nonfinite_dropped} points had NaN or infinite coordinates and were left out.`);
  }
  if (assigned.columns.has("timestamps") && cloud.gps_time_encoding === "gps_week") {
    warnings.push(
      "GPS times are seconds of the week, without an epoch: they cannot be joined to an absolute trajectory.",
    );
  }
  return [...new Set([...warnings, ...unitWarnings(cloud.crs, scale)])]; // a reader repeats what header and records tell
}
