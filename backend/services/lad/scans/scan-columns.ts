import { DEFAULT_MISS_DISTANCE_M } from "../../../../shared/contract/cloud-session/create.ts";
import type { BulkNumbers } from "../../../../shared/contract/geometry.ts";
import type { LadScan } from "../../../../shared/contract/lad-scan.ts";
import { AppError } from "../../../../shared/errors.ts";
import { WOOD_CLASS_SLUG } from "../../../../shared/limits.ts";
import type { Job } from "../../../jobs/job.ts";
import { beamOriginsOfScans } from "../../../native/classify/denoise.ts";
import * as cloud from "../../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../../native/core/handles.ts";
import { type CloudMeta, type CloudSession, type MissBuffer, NO_MISSES } from "../../../sessions/cloud-session.ts";
import { extraKey, type IntensityUnits, type Triple } from "../../../sessions/column-names.ts";
import { ColumnRef } from "../../../sessions/column-ref.ts";
import { SAYS_ITS_MISSES } from "../../cloud/import/import.ts";
import { readWarnings } from "../../cloud/import/read-warnings.ts";
import { assignColumns } from "../../files/assigned-columns.ts";
import { readCloud } from "../../files/read.ts";
import { MISS_SLUG } from "../../files/slugs.ts";
import type { SourceKind } from "../../files/source.ts";
import { beamOrigins } from "../../octree/beam-origins.ts";
import { detectMisses } from "../../octree/misses.ts";
import { numbersColumn, pointsColumn } from "../../run/points.ts";

const SOURCE_FRAME = { unit_scale: 1, shift: [0, 0, 0] } as const;

/** The columns of a scan in the form of a session; the run owns them. */
export interface ScanColumns {
  readonly columns: ReadonlyMap<string, ColumnRef>;
  /** Recovered misses, which are no rows. */
  readonly misses: MissBuffer;
  /** vec3d, a beam origin per row or one for all, stored frame; null = the scan does not state any. */
  readonly own_origins: NativeColumn | null;
  /** Added to positions and origins: true world. */
  readonly shift: Triple;
  /** Of a session. */
  readonly meta: CloudMeta | null;
  readonly intensity_units: IntensityUnits;
  /** About the values of a file; a session told them when it was imported. */
  readonly warnings: readonly string[];
}

/** Of sources that do not state it: 16 bits for 0..1. */
const FRACTION: IntensityUnits = { divisor: 65535, offset: 0 };
const AS_GIVEN: IntensityUnits = { divisor: 1, offset: 0 };

/** The columns of a session, with per-pulse beam origins or those of its merged scans. */
export function sessionColumns(session: CloudSession, job: Job): Promise<ScanColumns> {
  return session.read(job, async (state) => {
    const columns = new Map([...state.columns].map(([key, column]) => [key, job.adopt(column.retain())] as const));
    const misses = new Map([...state.misses].map(([key, column]) => [key, job.adopt(column.retain())] as const));
    const { scan_origins, world_shift, intensity_units = FRACTION } = state.meta;
    const stated = columns.has("beam_origins") || (scan_origins !== undefined && scan_origins.length > 0);
    const own_origins = stated ? await beamOrigins({ ...state, columns }, job.quiet()) : null;
    return {
      columns,
      misses,
      own_origins,
      shift: world_shift ?? [0, 0, 0],
      meta: state.meta,
      intensity_units,
      warnings: [],
    };
  });
}

export async function inlineColumns({ points, scalar_columns }: LadScan, job: Job): Promise<ScanColumns> {
  const columns = new Map<string, ColumnRef>([["positions", job.adopt(pointsColumn(points ?? []))]]);
  const put = (key: string, values: BulkNumbers | null | undefined) => {
    if (values) columns.set(key, job.adopt(numbersColumn(values)));
  };
  put("timestamps", scalar_columns?.timestamp);
  put(extraKey(MISS_SLUG), scalar_columns?.is_miss);
  put(extraKey("target_index"), scalar_columns?.target_index);
  put(extraKey("target_count"), scalar_columns?.target_count);
  put("intensity", scalar_columns?.intensity);
  put(extraKey(WOOD_CLASS_SLUG), scalar_columns?.wood_class);
  const own_origins = await inlineOrigins(scalar_columns, job);
  return {
    columns,
    misses: NO_MISSES,
    own_origins,
    shift: [0, 0, 0],
    meta: null,
    intensity_units: AS_GIVEN,
    warnings: [],
  };
}

/** From the columns of inline pulses, if all three are there. */
async function inlineOrigins(given: LadScan["scalar_columns"], job: Job): Promise<NativeColumn | null> {
  const { origin_x, origin_y, origin_z } = given ?? {};
  if (!origin_x || !origin_y || !origin_z) return null;
  const [x, y, z] = [origin_x, origin_y, origin_z].map((values) => job.adopt(numbersColumn(values)).native);
  if (!x || !y || !z) throw new AppError("internal", "beam origins without their columns");
  const merged = await job.quiet().track(() => cloud.interleaveTriple(x, y, z, SOURCE_FRAME));
  return job.adopt(new ColumnRef(merged)).native;
}

/** The columns of a file, read like an import that converts no units. Errors: those of readCloud. */
export async function fileColumns(
  { ascii_format, origin }: LadScan,
  { path, kind }: { readonly path: string; readonly kind: SourceKind },
  job: Job,
): Promise<ScanColumns> {
  const reading = job.quiet();
  const wanted = { path, kind, frame: SOURCE_FRAME, ascii_format: ascii_format ?? null };
  const read = await readCloud({ ...wanted, column_plan: null, scan_index: null }, reading);
  const wishes = { frame: SOURCE_FRAME, drop: new Set<string>(), roles: {}, labels: {} };
  const assigned = await assignColumns(read, wishes, reading);
  if (!SAYS_ITS_MISSES.has(kind)) await detectMisses(assigned, origin, DEFAULT_MISS_DISTANCE_M, reading);
  const { columns, intensity_units = FRACTION } = assigned;
  const warnings = readWarnings(read, assigned, null);
  const scan_index = columns.get(extraKey("scan_index"))?.native;
  const placed = read.scans.flatMap((one) =>
    one.origin === null ? [] : [{ scan_index: one.scan_index, origin: one.origin }],
  );
  const merged = scan_index && placed.length > 1;
  const own_origins =
    columns.get("beam_origins")?.native ??
    (merged
      ? job.adopt(new ColumnRef(await reading.track(() => beamOriginsOfScans(scan_index, placed)))).native
      : null);
  return { columns, misses: NO_MISSES, own_origins, shift: [0, 0, 0], meta: null, intensity_units, warnings };
}
