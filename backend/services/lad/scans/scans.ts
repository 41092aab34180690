import type { LadScan } from "../../../../shared/contract/lad-scan.ts";
import { AppError } from "../../../../shared/errors.ts";
import { MAX_LAD_SCANS } from "../../../../shared/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Job } from "../../../jobs/job.ts";
import { selectRows, unionRows } from "../../../native/cloud/edit.ts";
import { combineMasks } from "../../../native/cloud/masks.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import { type BeamScan, type BeamScanCounts, type TracedBeams, traceBeams } from "../../../native/lad.ts";
import type { CloudSession } from "../../../sessions/cloud-session.ts";
import { extraKey, type IntensityUnits } from "../../../sessions/column-names.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { importBytes } from "../../files/import-cost.ts";
import { MISS_SLUG } from "../../files/slugs.ts";
import { kindOfFile, type SourceKind, sourceFile } from "../../files/source.ts";
import { knownClasses } from "../../run/known-classes.ts";
import { originWarnings, rowOriginWarnings } from "../../run/origin-warnings.ts";
import { pointsColumn } from "../../run/points.ts";
import { lengthOf, type TraceGrid } from "../grid.ts";
import { type MovingOrigins, movingOrigins } from "./moving.ts";
import { fileColumns, inlineColumns, type ScanColumns, sessionColumns } from "./scan-columns.ts";
import { otherScanner, type ScanNotes } from "./scan-warnings.ts";

/** A scan whose source is known to exist. */
export interface CheckedScan {
  readonly request: LadScan;
  readonly name: string;
  readonly source:
    | { readonly from: "session"; readonly session: CloudSession }
    | { readonly from: "file"; readonly path: string; readonly kind: SourceKind; readonly bytes: number }
    | { readonly from: "inline"; readonly rows: number };
}

/** Hits of a scan by label: u8 per row. */
export interface ScanLabels {
  readonly wood: NativeColumn;
  readonly leaf: NativeColumn;
}

export interface ReadScan {
  readonly beams: BeamScan;
  /** Its recovered misses, a beam each; null = none. */
  readonly misses: BeamScan | null;
  /** Numbers of the returns of a pulse; null if the scan does not have them. */
  readonly returns: { readonly target_index: NativeColumn; readonly target_count: NativeColumn } | null;
  /** Energy of the returns; null if the scan does not have it. */
  readonly energy: { readonly intensity: NativeColumn; readonly units: IntensityUnits } | null;
  readonly leaf_intensity: number | null;
  /** Hits by their label; absent without wood_split, or if the scan has none. */
  readonly labels?: ScanLabels;
  /** An extra column of the rows. */
  extra(slug: string): NativeColumn | null;
  readonly notes: ScanNotes;
}

const refused = (message: string) => new AppError("invalid_argument", message);
const MULTI_COLUMNS = ["timestamp", "target_index", "target_count"] as const;

/** Errors: not_found; invalid_argument for a scan without a source and lists of different lengths. */
export async function checkScan(request: LadScan, index: number, { sessions }: Deps): Promise<CheckedScan> {
  const name = request.label ? `Scan "${request.label}"` : `Scan ${index + 1}`;
  const { session_id, file_path, allow_file_source, points } = request;
  if (session_id) {
    const session = await sessions.get(session_id).catch((error: unknown) => {
      if (!(error instanceof AppError) || error.code !== "not_found") throw error;
      throw new AppError(
        "not_found",
        `${error.message}. ${name} is gone: import its file again; a file is not read instead of a session.`,
      );
    });
    return { request, name, source: { from: "session", session } };
  }
  if (file_path) {
    if (!allow_file_source) {
      throw refused(
        `${name} names a file but no session: a session holds the edits, the file lacks them. Import it, or set allow_file_source.`,
      );
    }
    const path = await sourceFile(file_path);
    const kind = kindOfFile(path);
    return { request, name, source: { from: "file", path, kind, bytes: await importBytes(path, kind) } };
  }
  const rows = lengthOf(points);
  if (rows === 0) throw refused(`${name} has neither a session_id nor points.`);
  for (const [column, values] of Object.entries(request.scalar_columns ?? {})) {
    if (values && lengthOf(values) !== rows) {
      throw refused(`${name}: scalar_columns.${column} has ${lengthOf(values)} values for ${rows} points.`);
    }
  }
  return { request, name, source: { from: "inline", rows } };
}

/** Reads a scan; the run owns its columns. Errors: invalid_argument for a moving scan whose origins are not known. */
export async function readScan(scan: CheckedScan, job: Job): Promise<ReadScan> {
  const { source, request, name } = scan;
  const read =
    source.from === "inline"
      ? await inlineColumns(request, job)
      : source.from === "file"
        ? await fileColumns(request, source, job)
        : await sessionColumns(source.session, job);
  const of = (key: string) => read.columns.get(key)?.native ?? null;
  const positions = of("positions");
  if (!positions) throw new AppError("internal", "a scan without positions");
  const given = {
    timestamp: of("timestamps"),
    target_index: of(extraKey("target_index")),
    target_count: of(extraKey("target_count")),
  };
  const multi = request.return_type === "multi";
  const missing_columns = MULTI_COLUMNS.filter((column) => given[column] === null);
  const grouped = multi && missing_columns.length === 0;
  const { timestamp, target_index, target_count } = given;
  const intensity = of("intensity");
  const is_miss = of(extraKey(MISS_SLUG));
  const rows = { positions, is_miss, times: given.timestamp, target_index };
  const { origins, moving, warnings } = await originsOf(scan, read, rows, job);
  return {
    beams: {
      positions,
      origins,
      shift: read.shift,
      is_miss,
      deleted: of("deleted"),
      timestamps: grouped ? given.timestamp : null,
      target_index: grouped ? given.target_index : null,
    },
    misses: await recoveredBeams(read, origins, job),
    returns: timestamp && target_index && target_count ? { target_index, target_count } : null,
    energy: intensity ? { intensity, units: read.intensity_units } : null,
    leaf_intensity: request.leaf_intensity ?? null,
    extra: (slug) => of(extraKey(slug)),
    notes: {
      name,
      moving,
      declared_multi: multi,
      echo_count: multi || !target_count ? 0 : await echoCount(positions, target_count, job),
      missing_columns,
      has_times: given.timestamp !== null,
      meta: read.meta,
      warnings: [...read.warnings.map((text) => `${name}: ${text}`), ...warnings],
    },
  };
}

/** Rows of pulses with several returns. */
async function echoCount(positions: NativeColumn, target_count: NativeColumn, job: Job): Promise<number> {
  const filters = [{ column: target_count, min: 2, max: Number.POSITIVE_INFINITY, values: [] }];
  const mask = await job.quiet().track(() => selectRows({ positions, regions: [], filters }));
  const { mask: kept, count } = await job.quiet().track(() => combineMasks([{ mask, invert: false }], "and"));
  for (const column of [mask, kept]) column.release();
  return count;
}

/** A mask (u8) of all of so many rows; the run owns it. */
export async function everyRow(count: number, job: Job): Promise<NativeColumn> {
  const none = await job.quiet().track(() => unionRows(count, null, []));
  const { mask } = await job.quiet().track(() => combineMasks([{ mask: none, invert: true }], "and"));
  none.release();
  return job.adopt(new ColumnRef(mask)).native;
}

/** The beams of recovered misses: from their own origins, else from the scanner that they were recovered for. */
async function recoveredBeams(
  { misses, shift, meta }: ScanColumns,
  origins: NativeColumn,
  job: Job,
): Promise<BeamScan | null> {
  const positions = misses.get("positions")?.native;
  if (!positions) return null;
  const scanner = meta?.miss_octree_origin;
  const own = misses.get("origins")?.native ?? (scanner ? job.adopt(pointsColumn([[...scanner]])).native : origins);
  return {
    positions,
    origins: own,
    shift,
    is_miss: await everyRow(positions.length, job),
    deleted: null,
    timestamps: null,
    target_index: null,
  };
}

interface OriginRows {
  readonly positions: NativeColumn;
  readonly is_miss: NativeColumn | null;
  readonly times: NativeColumn | null;
  readonly target_index: NativeColumn | null;
}

/**
 * Beam origins in the order of the contract: of the pulses, from the trajectory, the scanner position. Errors:
 * invalid_argument for several scans whose positions are not known.
 */
async function originsOf(
  { request: { origin, trajectory }, name }: CheckedScan,
  { own_origins, shift, columns, meta }: ScanColumns,
  given: OriginRows,
  job: Job,
): Promise<MovingOrigins & { readonly moving: boolean }> {
  const rows = { ...given, name, shift };
  if (own_origins) {
    const told = `${name} has a beam origin for each point; they are used instead of the trajectory.`;
    const beams = await rowOriginWarnings({ ...rows, origins: own_origins }, null, job);
    return { origins: own_origins, moving: false, warnings: trajectory ? [told, ...beams] : beams };
  }
  if (trajectory) return { ...(await movingOrigins(rows, trajectory, job)), moving: true };
  const scan_index = columns.get(extraKey("scan_index"))?.native;
  const scans = (scan_index && (await knownClasses(scan_index, null, job))?.values.length) ?? 1;
  // More numbers are no scans, but lines of one.
  if (scans > 1 && scans <= MAX_LAD_SCANS)
    throw refused(
      `${name} has the points of ${scans} scans (scan_index), but not where these stood, and one origin cannot be that of all. Extract them by the column scan_index (exclude_values [], include_misses true) and send each with its own origin.`,
    );
  const stored: [number, number, number] = [origin[0] - shift[0], origin[1] - shift[1], origin[2] - shift[2]];
  const warnings = await originWarnings({ ...rows, origin: stored, given: origin }, job);
  if (warnings.length === 0) warnings.push(...otherScanner(name, stored, meta?.miss_octree_origin));
  return { origins: job.adopt(pointsColumn([stored])).native, moving: false, warnings };
}

/** All rows of the scans: those they have, and recovered misses. */
export const allBeams = (scans: readonly ReadScan[]) => [
  ...scans.map(({ beams }) => beams),
  ...scans.flatMap(({ misses }) => misses ?? []),
];

/** The beams of all scans in a grid, their chords times the factors; recovered misses count with their scan. */
export async function tracedBeams(
  scans: readonly ReadScan[],
  { box, device }: TraceGrid,
  job: Job,
  factors: NativeColumn | null = null,
): Promise<TracedBeams> {
  const traced = await job.track(() => traceBeams(allBeams(scans), box, factors, device.options));
  for (const warning of traced.warnings) device.told.add(warning);
  let at = scans.length;
  const counts = scans.map(({ misses }, i) => {
    const rows = traced.scans[i] as BeamScanCounts;
    const more = misses ? traced.scans[at++] : undefined;
    if (!more) return rows;
    return {
      ...rows,
      pulse_count: rows.pulse_count + more.pulse_count,
      miss_count: rows.miss_count + more.miss_count,
      // Recovered misses stand for those without a direction.
      unusable_count: rows.unusable_count - rows.unusable_miss_count + more.unusable_count,
      unusable_miss_count: more.unusable_miss_count,
    };
  });
  return { ...traced, scans: counts };
}
