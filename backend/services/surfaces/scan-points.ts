import type { ScanEntry, ScanSummary } from "../../../shared/contract/triangulate-lidar.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_SCANS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { hitMask, interleaveTriple } from "../../native/cloud/cloud.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/scan-meshes.ts";
import { meshPoints, type VoxelBox } from "../../native/surfaces.ts";
import type { CloudSession, CloudState } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { MISS_SLUG } from "../files/slugs.ts";
import { beamOrigins } from "../octree/beam-origins.ts";
import { fixedColumn, optionalExtra, positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { originWarnings } from "../run/origin-warnings.ts";
import { numbersColumn, pointsColumn, sourceSession } from "../run/points.ts";
import { requireOnePlace } from "./one-place.ts";

/** A scan whose source exists; without a session its points are inline. */
export interface ScanSource {
  /** "scans[0]" and "Scan 1", for errors and warnings. */
  readonly name: string;
  readonly label: string;
  readonly entry: ScanEntry;
  readonly origin: Triple;
  readonly session: CloudSession | null;
}

const AS_GIVEN = { unit_scale: 1, shift: [0, 0, 0] } as const;
const refused = (message: string) => new AppError("invalid_argument", message);

/** The sources of scans. Errors: not_found; invalid_argument for sources, origins and lengths that are wrong. */
export async function scanSources(scans: readonly ScanEntry[], deps: Deps): Promise<ScanSource[]> {
  if (scans.length === 0) throw refused("scans is empty: at least one scan is needed");
  if (scans.length > MAX_SCANS) throw refused(`scans has ${scans.length} entries, more than ${MAX_SCANS}`);
  const found: ScanSource[] = [];
  for (const [i, entry] of scans.entries()) {
    const [x, y, z] = entry.origin;
    if (entry.origin.length !== 3 || x === undefined || y === undefined || z === undefined) {
      throw refused(`scans[${i}].origin must be three numbers, not ${entry.origin.length}`);
    }
    const inline = !entry.session_id && entry.points ? entry.points : null;
    const source = { session_id: entry.session_id, source_path: entry.file_path };
    const session = inline ? null : await sourceSession(source, deps);
    if (inline) checkColumns(entry, i, inline.length);
    found.push({ name: `scans[${i}]`, label: `Scan ${i + 1}`, entry, origin: [x, y, z], session });
  }
  return found;
}

function checkColumns({ scalar_columns }: ScanEntry, scan: number, count: number): void {
  for (const [name, values] of Object.entries(scalar_columns ?? {})) {
    if (values.length === count) continue;
    throw refused(`scans[${scan}].scalar_columns.${name} has ${values.length} values for ${count} points`);
  }
}

/** Rows of all scans. */
export const rowsOf = (sources: readonly ScanSource[]): number =>
  sources.reduce(
    (sum, { session, entry }) => sum + (session ? positionsColumn(session.state).length : (entry.points?.length ?? 0)),
    0,
  );

/** Memory for reading a row: the point, its mask, and a list of the request as a column, or a beam origin. */
export const SCAN_ROW_BYTES = 24 + 2 + 24;

/** The points of a scan, in true world coordinates. The run owns the column. */
export interface ScanPoints {
  /** vec3d. */
  readonly points: NativeColumn;
  readonly origin: Triple;
  readonly is_multi_return: boolean;
  /** Surviving hits, inside the grid or not. */
  readonly hit_count: number;
  readonly later_returns: number;
  readonly unusable_count: number;
  /** About its origin. */
  readonly warnings: readonly string[];
}

/** The columns of a scan that reading needs. */
interface ScanColumns {
  readonly positions: NativeColumn;
  readonly is_miss: NativeColumn | null;
  readonly times: NativeColumn | null;
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  readonly shift: Triple;
  readonly target_index: NativeColumn | null;
  readonly target_count: NativeColumn | null;
  /** vec3d, a beam origin per row; null = the scan does not have them. */
  readonly origins: NativeColumn | null;
}

/** Which hits of a scan are read. */
export interface ScanReading {
  /** Only those in its cells; null = all. */
  readonly grid: VoxelBox | null;
  /** For directions from one place: only the first returns of pulses with several; beam origins at several places: refused. */
  readonly for_directions: boolean;
}

/** Reads one scan. Errors: invalid_argument for beam origins at several places. */
export async function readScan(source: ScanSource, reading: ScanReading, job: Job): Promise<ScanPoints> {
  const { session } = source;
  if (!session) return selected(await inlineColumns(source.entry, job), source, reading, job);
  return session.read(job, async (state) => {
    const { skip, hit_count } = await surviving(state, job.quiet());
    const columns: ScanColumns = {
      positions: positionsColumn(state),
      is_miss: optionalExtra(state, MISS_SLUG),
      times: fixedColumn(state, "timestamps"),
      skip,
      hit_count,
      shift: state.meta.world_shift ?? [0, 0, 0],
      target_index: optionalExtra(state, "target_index"),
      target_count: optionalExtra(state, "target_count"),
      origins: reading.for_directions ? await rowOrigins(state, job.quiet()) : null,
    };
    return selected(columns, source, reading, job);
  });
}

/** Beam origins of a session, if they may differ from row to row. */
async function rowOrigins(state: CloudState, job: Job): Promise<NativeColumn | null> {
  const differ = fixedColumn(state, "beam_origins") !== null || (state.meta.scan_origins?.length ?? 0) > 0;
  return differ ? beamOrigins(state, job) : null;
}

/** From the columns of inline pulses, if all three are there. */
async function inlineOrigins(column: (name: string) => NativeColumn | null, job: Job): Promise<NativeColumn | null> {
  const [x, y, z] = [column("origin_x"), column("origin_y"), column("origin_z")];
  if (!x || !y || !z) return null;
  return job.adopt(new ColumnRef(await job.track(() => interleaveTriple(x, y, z, AS_GIVEN)))).native;
}

async function inlineColumns({ points, scalar_columns }: ScanEntry, job: Job): Promise<ScanColumns> {
  const positions = job.adopt(pointsColumn(points ?? [])).native;
  const column = (name: string) => {
    const values = scalar_columns?.[name];
    return values ? job.adopt(numbersColumn(values)).native : null;
  };
  const is_miss = column("is_miss");
  const mask = await job.track(() => hitMask(is_miss, null, positions.length));
  return {
    positions,
    is_miss,
    times: column("timestamp"),
    skip: mask.skip ? job.adopt(new ColumnRef(mask.skip)).native : null,
    hit_count: mask.hit_count,
    shift: [0, 0, 0],
    target_index: column("target_index"),
    target_count: column("target_count"),
    origins: await inlineOrigins(column, job),
  };
}

async function selected(
  columns: ScanColumns,
  { name, label, origin }: ScanSource,
  { grid, for_directions }: ScanReading,
  job: Job,
): Promise<ScanPoints> {
  const { positions, hit_count, shift, target_index, target_count, times, origins } = columns;
  if (for_directions && origins) await requireOnePlace(name, { origins, skip: columns.skip }, job);
  const returns =
    for_directions && target_index && target_count && times
      ? await job.track(() => native.firstReturns(target_index, target_count, columns.skip))
      : null;
  const skip = returns?.skip ? job.adopt(new ColumnRef(returns.skip)).native : columns.skip;
  const read = await job.track(() =>
    grid
      ? native.voxelPoints(positions, skip, shift, grid)
      : meshPoints(positions, skip, { shift, crop: null, origins: null }),
  );
  return {
    points: job.adopt(new ColumnRef(read.points)).native,
    origin,
    is_multi_return: returns?.is_multi_return ?? false,
    hit_count,
    later_returns: returns?.dropped_count ?? 0,
    unusable_count: read.unusable_count,
    warnings: for_directions && hit_count > 0 ? await aboutOrigin(columns, label, origin, job) : [],
  };
}

function aboutOrigin(columns: ScanColumns, name: string, given: Triple, job: Job): Promise<string[]> {
  const { shift } = columns;
  const origin: Triple = [given[0] - shift[0], given[1] - shift[1], given[2] - shift[2]];
  return originWarnings({ ...columns, name, origin, given }, job);
}

/** Angles that a scan takes from its request. */
export interface SweepDefaults {
  readonly theta_min: number;
  readonly theta_max: number;
  readonly phi_min: number;
  readonly phi_max: number;
}

/** Rows and columns of a scan: given, or estimated from the number of points and the angles (contract core-endpoints 7). */
export function scanSummary(entry: ScanEntry, read: ScanPoints, request: SweepDefaults): ScanSummary {
  const angle = (name: keyof SweepDefaults) => entry[name] ?? request[name];
  const aspect = (angle("theta_max") - angle("theta_min")) / (angle("phi_max") - angle("phi_min"));
  const wide = Number.isFinite(aspect) ? Math.max(aspect, 0.01) : 1;
  const n = read.points.length;
  const n_phi = entry.n_phi ?? Math.max(Math.trunc(Math.sqrt(n / wide)), 10);
  const n_theta = entry.n_theta ?? Math.max(Math.trunc(n / n_phi), 10);
  const estimated = !entry.n_phi || !entry.n_theta;
  return { points_used: n, later_returns: read.later_returns, n_theta, n_phi, estimated };
}
