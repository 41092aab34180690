import { DEFAULT_MISS_DISTANCE_M } from "../../../shared/contract/cloud-session/create.ts";
import type { BulkNumbers } from "../../../shared/contract/geometry.ts";
import type { LadScan } from "../../../shared/contract/lad-compute.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { beamOriginsOfScans } from "../../native/classify/denoise.ts";
import * as cloud from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { BeamScan } from "../../native/lad.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import { extraKey, type Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { beamOrigins } from "../classify/beam-origins.ts";
import { SAYS_ITS_MISSES } from "../cloud/import/import.ts";
import { assignColumns } from "../files/assigned-columns.ts";
import { importBytes } from "../files/import-cost.ts";
import { readCloud } from "../files/read.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { kindOfFile, type SourceKind, sourceFile } from "../files/source.ts";
import { detectMisses } from "../octree/misses.ts";
import { numbersColumn, pointsColumn } from "../run/points.ts";
import { lengthOf } from "./grid.ts";
import type { ScanNotes } from "./scan-warnings.ts";

/** A scan whose source is known to exist. */
export interface CheckedScan {
  readonly request: LadScan;
  readonly name: string;
  readonly source:
    | { readonly from: "session"; readonly session: CloudSession }
    | { readonly from: "file"; readonly path: string; readonly kind: SourceKind; readonly bytes: number }
    | { readonly from: "inline"; readonly rows: number };
}

export interface ReadScan {
  readonly beams: BeamScan;
  readonly notes: ScanNotes;
}

const refused = (message: string) => new AppError("invalid_argument", message);
const SOURCE_FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;
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

/** Reads a scan; the run owns its columns. */
export async function readScan(scan: CheckedScan, job: Job): Promise<ReadScan> {
  const { source, request } = scan;
  if (source.from === "inline") return inlineScan(scan, request, job);
  if (source.from === "file") return fileScan(scan, source, job);
  return source.session.read(job, async (state) => {
    const held = new Map([...state.columns].map(([key, column]) => [key, job.adopt(column.retain())] as const));
    const origins = await sessionOrigins({ ...state, columns: held }, request.origin, job);
    return columnScan(scan, held, { origins, shift: state.meta.world_shift ?? [0, 0, 0] }, state);
  });
}

/** Beam origins in the stored frame, in the order of the contract: per pulse, of merged scans, the given one. */
async function sessionOrigins(state: CloudState, origin: Triple, job: Job): Promise<NativeColumn> {
  const { scan_origins, world_shift } = state.meta;
  const own = state.columns.has("beam_origins") || (scan_origins && scan_origins.length > 0);
  const known = own ? await beamOrigins(state, job.quiet()) : null;
  if (known) return known;
  const [sx, sy, sz] = world_shift ?? [0, 0, 0];
  return job.adopt(pointsColumn([[origin[0] - sx, origin[1] - sy, origin[2] - sz]])).native;
}

interface Placed {
  readonly origins: NativeColumn;
  readonly shift: Triple;
}

/** A scan from the columns of a session, or of a file in the same form. */
function columnScan(
  { request, name }: CheckedScan,
  columns: ReadonlyMap<string, ColumnRef>,
  { origins, shift }: Placed,
  state: CloudState | null,
): ReadScan {
  const of = (key: string) => columns.get(key)?.native ?? null;
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
  return {
    beams: {
      positions,
      origins,
      shift,
      is_miss: of(extraKey(MISS_SLUG)),
      deleted: of("deleted"),
      timestamps: grouped ? given.timestamp : null,
      target_index: grouped ? given.target_index : null,
    },
    notes: {
      name,
      declared_multi: multi,
      missing_columns,
      has_times: given.timestamp !== null,
      row_count: positions.length,
      meta: state?.meta ?? null,
    },
  };
}

function inlineScan(scan: CheckedScan, { points, scalar_columns, origin }: LadScan, job: Job): Promise<ReadScan> {
  const columns = new Map<string, ColumnRef>([["positions", job.adopt(pointsColumn(points ?? []))]]);
  const put = (key: string, values: BulkNumbers | null | undefined) => {
    if (values) columns.set(key, job.adopt(numbersColumn(values)));
  };
  put("timestamps", scalar_columns?.timestamp);
  put(extraKey(MISS_SLUG), scalar_columns?.is_miss);
  put(extraKey("target_index"), scalar_columns?.target_index);
  put(extraKey("target_count"), scalar_columns?.target_count);
  return withOrigins(scalar_columns ?? null, origin, job).then((origins) =>
    columnScan(scan, columns, { origins, shift: [0, 0, 0] }, null),
  );
}

/** Beam origins of inline pulses: their columns if all three are there, else the scanner position. */
async function withOrigins(given: LadScan["scalar_columns"], origin: Triple, job: Job): Promise<NativeColumn> {
  const { origin_x, origin_y, origin_z } = given ?? {};
  if (!origin_x || !origin_y || !origin_z) return job.adopt(pointsColumn([[...origin]])).native;
  const [x, y, z] = [origin_x, origin_y, origin_z].map((values) => job.adopt(numbersColumn(values)).native);
  if (!x || !y || !z) throw new AppError("internal", "beam origins without their columns");
  const merged = await job.quiet().track(() => cloud.interleaveTriple(x, y, z, SOURCE_FRAME));
  return job.adopt(new ColumnRef(merged)).native;
}

async function fileScan(
  scan: CheckedScan,
  { path, kind }: { readonly path: string; readonly kind: SourceKind },
  job: Job,
): Promise<ReadScan> {
  const { ascii_format, origin } = scan.request;
  const reading = job.quiet();
  const wanted = { path, kind, frame: SOURCE_FRAME, ascii_format: ascii_format ?? null };
  const read = await readCloud({ ...wanted, column_plan: null, scan_index: null }, reading);
  const wishes = { frame: SOURCE_FRAME, drop: new Set<string>(), roles: {}, labels: {} };
  const assigned = await assignColumns(read, wishes, reading);
  if (!SAYS_ITS_MISSES.has(kind)) await detectMisses(assigned, origin, DEFAULT_MISS_DISTANCE_M, reading);
  const { columns } = assigned;
  const scan_index = columns.get(extraKey("scan_index"))?.native;
  const placed = read.scans.flatMap((one) =>
    one.origin === null ? [] : [{ scan_index: one.scan_index, origin: one.origin }],
  );
  const own = columns.get("beam_origins")?.native;
  const merged =
    !own && scan_index && placed.length > 1
      ? job.adopt(new ColumnRef(await reading.track(() => beamOriginsOfScans(scan_index, placed)))).native
      : null;
  const origins = own ?? merged ?? job.adopt(pointsColumn([[...origin]])).native;
  return columnScan(scan, columns, { origins, shift: [0, 0, 0] }, null);
}
