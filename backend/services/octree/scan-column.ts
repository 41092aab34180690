import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudState } from "../../sessions/cloud-session.ts";
import { extraColumn, optionalExtra } from "./columns.ts";

/** Where scans have no numbers of their own, flight lines have them. */
const FLIGHT_LINES = "las_point_source_id";

/** Names of scan numbers in files of other programs, as `plain` has them; CloudCompare's merge writes "Original cloud index". */
const NAMES = [
  "scanindex",
  "originalcloudindex",
  "scanid",
  "scannumber",
  "scanno",
  "scannr",
  "scanposition",
  "scanpos",
] as const;

/** Without case, signs between words and what CloudCompare writes before the names of columns in PLY files. */
const plain = (name: string) =>
  name
    .replace(/^scalar_/i, "")
    .replace(/[^a-z0-9]/gi, "")
    .toLowerCase();

export interface ScanColumn {
  readonly values: NativeColumn;
  readonly slug: string;
  /** Numbers of flight lines, not of scans. */
  readonly is_flight_lines: boolean;
}

/**
 * The numbers of scans of a session: the column `wanted`; scan_index; or one with a name that other programs give them. Null if it has
 * none. Errors: invalid_argument for a `wanted` that the session lacks.
 */
export function scanNumbers(state: CloudState, wanted: string | null = null): ScanColumn | null {
  if (wanted !== null) return { values: extraColumn(state, wanted), slug: wanted, is_flight_lines: false };
  const slugs = ["scan_index", ...NAMES.flatMap((name) => slugsNamed(state, name))];
  for (const slug of slugs) {
    const values = optionalExtra(state, slug);
    if (values) return { values, slug, is_flight_lines: false };
  }
  return null;
}

const slugsNamed = ({ meta }: CloudState, name: string) =>
  meta.extra_dims_meta.flatMap(({ slug }) => (plain(slug) === name ? [slug] : []));

/** The column that tells scans, or else flight lines, apart; null if a session has neither. Errors: as scanNumbers. */
export function scanColumn(state: CloudState, wanted: string | null = null): ScanColumn | null {
  const scans = scanNumbers(state, wanted);
  if (scans) return scans;
  const values = optionalExtra(state, FLIGHT_LINES);
  return values && { values, slug: FLIGHT_LINES, is_flight_lines: true };
}
