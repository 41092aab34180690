import type { ScanExportEntry } from "../../../../../shared/contract/scan-export.ts";
import { AppError } from "../../../../../shared/errors.ts";
import type { Deps } from "../../../../deps.ts";
import type { Job } from "../../../../jobs/job.ts";
import type { NativeColumn } from "../../../../native/core/handles.ts";
import type { CloudViewInput, LasWriteParams } from "../../../../native/files/writers.ts";
import type { CloudState } from "../../../../sessions/cloud-session.ts";
import type { ExtraDim, Triple } from "../../../../sessions/column-names.ts";
import { extraKey } from "../../../../sessions/column-names.ts";
import { assignColumns } from "../../../files/assigned-columns.ts";
import { importBytes } from "../../../files/import-cost.ts";
import { readCloud } from "../../../files/read.ts";
import { kindOfFile, sourceFile } from "../../../files/source.ts";
import { extraColumn, fixedColumn, positionsColumn } from "../../../octree/columns.ts";
import { numbersColumn, pointsColumn } from "../../../run/points.ts";
import { type LasMeta, lasParams, plainLasParams } from "../las.ts";
import { RETURN_FIELDS } from "../return-numbers.ts";

type Scalar = CloudViewInput["scalars"][number];

/** The points of an object, wherever they come from. Columns belong to the session or to the run. */
export interface ScanPoints {
  /** Without the world shift. */
  readonly positions: NativeColumn;
  readonly colors: NativeColumn | null;
  readonly intensity: NativeColumn | null;
  readonly timestamps: NativeColumn | null;
  readonly beam_origins: NativeColumn | null;
  readonly scalars: readonly Scalar[];
  /** u8 per row, 1 = deleted. */
  readonly deleted: NativeColumn | null;
  readonly world_shift: Triple;
  /** What is known of the columns; [] for inline points. */
  readonly dims: readonly ExtraDim[];
  /** Fields with one value in every point, and the clock of the times. */
  readonly known: Pick<LasMeta, "constant_dimensions" | "gps_time_encoding">;
  /** How LAS stores the columns that `input` lists. */
  las(input: CloudViewInput, columns: readonly string[], translation: Triple, job: Job): Promise<LasWriteParams>;
  readonly warnings: readonly string[];
}

/** A rough number of points, for the shares of progress. */
export function expectedPoints(entry: ScanExportEntry, { sessions }: Deps): number {
  const session = sessions.list().find(({ id }) => id === entry.session_id);
  return session ? positionsColumn(session.state).length : (entry.points?.length ?? 1);
}

/**
 * Runs `body` with the points of an entry: of its session, else its inline points, else its file. A session is read as
 * it is at one moment. Errors: not_found; invalid_argument for an entry without points, or with a file that it does not
 * allow; those of reading a file.
 */
export async function withScanPoints<T>(
  entry: ScanExportEntry,
  deps: Deps,
  job: Job,
  body: (points: ScanPoints) => Promise<T>,
): Promise<T> {
  if (entry.session_id) {
    const session = await deps.sessions.get(entry.session_id);
    return session.read(job, (state) => body(sessionPoints(state)));
  }
  if (entry.points) return body(inlinePoints(entry, job));
  if (!entry.file_path) {
    throw new AppError("invalid_argument", "an object has no points: give it a session_id, points or a file_path");
  }
  if (!entry.allow_file_source) {
    throw new AppError(
      "invalid_argument",
      "an object names a file but no session: a live session holds the edits, the file is stale. Create a session from the file, or send allow_file_source: true",
    );
  }
  const path = await sourceFile(entry.file_path);
  return deps.admission.run(job, "Export", await importBytes(path, kindOfFile(path)), async () =>
    body(await filePoints(path, entry, job)),
  );
}

function sessionPoints(state: CloudState): ScanPoints {
  const { meta } = state;
  return {
    positions: positionsColumn(state),
    colors: fixedColumn(state, "colors"),
    intensity: fixedColumn(state, "intensity"),
    timestamps: fixedColumn(state, "timestamps"),
    beam_origins: fixedColumn(state, "beam_origins"),
    scalars: meta.extra_dims_meta.map(({ slug, label }) => ({ slug, label, column: extraColumn(state, slug) })),
    deleted: fixedColumn(state, "deleted"),
    world_shift: meta.world_shift ?? [0, 0, 0],
    dims: meta.extra_dims_meta,
    known: meta,
    las: (input, columns, translation, job) => lasParams(meta, input, columns, translation, job),
    warnings: [],
  };
}

const PLAIN = { deleted: null, world_shift: [0, 0, 0], dims: [], known: { gps_time_encoding: null } } as const;

function inlinePoints({ points, scalar_columns }: ScanExportEntry, job: Job): ScanPoints {
  const positions = job.adopt(pointsColumn(points ?? [])).native;
  const warnings: string[] = [];
  const scalars: Scalar[] = [];
  for (const [name, values] of Object.entries(scalar_columns ?? {})) {
    const slug = name.replace(/[^A-Za-z0-9_]+/g, "_").slice(0, 32) || "field";
    if (values.length !== positions.length) {
      warnings.push(`${name} is left out: it has ${values.length} values for ${positions.length} points.`);
    } else if (scalars.some((scalar) => scalar.slug === slug)) {
      warnings.push(`${name} is left out: another column has the name ${slug}.`);
    } else {
      scalars.push({ slug, label: name, column: job.adopt(numbersColumn(values)).native });
    }
  }
  const timestamps = scalars.find(({ slug }) => slug === "timestamp")?.column ?? null;
  return {
    ...PLAIN,
    positions,
    colors: null,
    intensity: null,
    timestamps,
    beam_origins: null,
    scalars: scalars.filter(({ slug }) => slug !== "timestamp"),
    las: (input) => Promise.resolve(plainLas(input)),
    warnings,
  };
}

async function filePoints(path: string, { ascii_format }: ScanExportEntry, job: Job): Promise<ScanPoints> {
  const frame = { unit_scale: 1, shift: [0, 0, 0] } as const;
  const request = { path, kind: kindOfFile(path), frame, ascii_format, column_plan: null, scan_index: null };
  const cloud = await readCloud(request, job);
  const wishes = { frame, drop: new Set<string>(), roles: {}, labels: {} };
  const { columns, extra_dims_meta, constant_dimensions, warnings } = await assignColumns(cloud, wishes, job);
  const meta: LasMeta = {
    extra_dims_meta,
    constant_dimensions,
    crs_epsg: cloud.crs?.epsg ?? null,
    crs_is_geographic: cloud.crs?.is_geographic ?? false,
    crs_wkt: cloud.crs?.wkt || null,
    crs_geotiff: cloud.crs?.geotiff ?? null,
    gps_time_encoding: cloud.gps_time_encoding,
    source_scale_m: cloud.scale_m,
    ...(cloud.offset_m ? { source_offset_m: cloud.offset_m } : {}),
  };
  const column = (key: string) => columns.get(key)?.native ?? null;
  const scalars = extra_dims_meta.flatMap(({ slug, label }) => {
    const found = column(extraKey(slug));
    return found ? [{ slug, label, column: found }] : [];
  });
  return {
    ...PLAIN,
    positions: cloud.positions.native,
    colors: column("colors"),
    intensity: column("intensity"),
    timestamps: column("timestamps"),
    beam_origins: column("beam_origins"),
    scalars,
    dims: extra_dims_meta,
    known: meta,
    las: (input, names, translation, run) => lasParams(meta, input, names, translation, run),
    warnings: [...cloud.warnings, ...warnings],
  };
}

/** LAS 1.4; every scalar but return numbers is an extra dimension. */
function plainLas({ scalars }: CloudViewInput): LasWriteParams {
  const placements = scalars.map(({ slug }) => ({ slug, field: RETURN_FIELDS.has(slug) ? slug : "", record: null }));
  return { ...plainLasParams(), version: "1.4", placements };
}
