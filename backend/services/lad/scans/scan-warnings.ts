import type { BeamScanCounts } from "../../../native/lad.ts";
import type { CloudMeta } from "../../../sessions/cloud-session.ts";
import type { Triple } from "../../../sessions/column-names.ts";

/** What a scan lacks, for its messages. */
export interface ScanNotes {
  /** "Scan 2", or its label. */
  readonly name: string;
  /** Its beam origins come from a trajectory. */
  readonly moving: boolean;
  readonly declared_multi: boolean;
  /** Rows of pulses with several returns that count as a pulse each, as the scan is not declared to have several. */
  readonly echo_count: number;
  /** Columns that return_type multi needs and the scan lacks. */
  readonly missing_columns: readonly string[];
  readonly has_times: boolean;
  /** Of a session. */
  readonly meta: CloudMeta | null;
  /** Of its file and its beam origins. */
  readonly warnings: readonly string[];
}

/** Of misses without a direction, as those of PTX files. */
export const RECOVER = "run Backfill Misses first, which places them by their rows and columns";

/** An origin that is farther away is another place, metres. */
const SAME_PLACE_M = 0.01;

/** Hits that are taken to come from another place than the misses. */
export function otherScanner(name: string, origin: Triple, of_misses: Triple | null | undefined): string[] {
  const off = of_misses ? Math.hypot(...of_misses.map((value, k) => value - (origin[k] ?? 0))) : 0;
  if (off <= SAME_PLACE_M) return [];
  return [
    `${name}: its misses come from a scanner ${Number(off.toPrecision(3))} m from the origin of the request, from which the beams of its hits are taken to come. One of the two is wrong: send the origin that the misses were recovered for, or recover them again.`,
  ];
}

/** Warnings about a scan, from what it lacks and what was read of it. */
export function scanWarnings(scan: ScanNotes, counts: BeamScanCounts): string[] {
  const { name, declared_multi, missing_columns, meta } = scan;
  const told: string[] = [...scan.warnings];
  const tell = (when: boolean, text: string) => when && told.push(`${name} ${text}`);
  tell(
    declared_multi && missing_columns.length > 0,
    `is declared to have several returns per pulse, but lacks ${missing_columns.join(", ")}: each row counts as one pulse.`,
  );
  tell(
    scan.echo_count > 0,
    `has ${scan.echo_count} points of pulses with several returns. Each counts as a pulse of its own, so the leaf area is wrong; send return_type multi, with return_weights energy if its intensities are linear.`,
  );
  tell(!scan.has_times, "has no time stamps.");
  tell(
    counts.times_repeat,
    "has time stamps that different pulses share; they look rounded, so each row counts as one pulse.",
  );
  const misses = counts.unusable_miss_count;
  const unusable = counts.unusable_count - misses;
  tell(
    unusable > 0,
    `has ${unusable} rows without a direction, not finite or at the beam origin, which were left out.`,
  );
  tell(
    misses > 0,
    `has ${misses} misses without a direction besides ${counts.miss_count} others. They were left out, so the leaf area density reads high: ${RECOVER}.`,
  );
  tell(
    counts.deleted_inside_count > 0,
    `has ${counts.deleted_inside_count} deleted hits inside the grid. Their beams cannot be told from lost ones and were left out, so the leaf area density may be wrong there.`,
  );
  const lost = meta?.unrestorable_hit_count ?? 0;
  tell(
    lost > 0,
    `has lost ${lost} hits of the original scan to bake, split, extract or merge. They cannot be restored, so the leaf area density may read high.`,
  );
  const taken = meta?.misses_of_lost_hits ?? 0;
  tell(
    taken > 0,
    `has recovered misses of ${taken} pulses whose hits were dropped by a bake, split, extract or merge before. They count as pulses that hit nothing, so the leaf area density reads low behind places where these hits lay in or before the grid. Recover misses before such edits, or open the file again.`,
  );
  tell(
    meta?.backfilled_misses_stale === true,
    "has misses that were restored before its points were edited; restore them again.",
  );
  tell(meta?.backfilled_misses_moved === true, "was moved after its misses were restored; restore them again.");
  return told;
}
