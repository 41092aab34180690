import type { PointSource } from "../../../shared/contract/point-source.ts";
import type { TriangulateRequest } from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_MESH_SOURCES, MIN_MESH_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/surfaces.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import type { Triple } from "../../sessions/column-names.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { noiseTakesPart } from "../classify/noise-rows.ts";
import { originsProblem } from "../classify/origins-problem.ts";
import { beamOrigins } from "../octree/beam-origins.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { pointsColumn, sourceSession, sourceStride, sourceTranslation } from "../run/points.ts";

/** A session to mesh, with its descriptor. */
export interface MeshSource {
  readonly source: PointSource;
  readonly session: CloudSession;
}

/** The sessions of a request; none for inline points alone. Errors: not_found, invalid_argument. */
export async function meshSources({ source, sources }: TriangulateRequest, deps: Deps): Promise<MeshSource[]> {
  const given = sources && sources.length > 0 ? sources : source ? [source] : [];
  if (given.length > MAX_MESH_SOURCES) {
    throw new AppError("invalid_argument", `sources has ${given.length} entries, more than ${MAX_MESH_SOURCES}`);
  }
  const found: MeshSource[] = [];
  for (const one of given) {
    sourceTranslation(one);
    found.push({ source: one, session: await sourceSession(one, deps) });
  }
  return found;
}

/** Errors: invalid_argument for another number of values than 0 or 6, and a rotation without end. */
export function cropOf({ crop_box, crop_box_rotation_deg }: TriangulateRequest): native.CropBox | null {
  if (!crop_box || crop_box.length === 0) return null;
  const [x0, y0, z0, x1, y1, z1] = crop_box as [number, number, number, number, number, number];
  if (crop_box.length !== 6) {
    throw new AppError(
      "invalid_argument",
      `crop_box must have 6 numbers, min x, y, z, max x, y, z; it has ${crop_box.length}.`,
    );
  }
  return { min: [x0, y0, z0], max: [x1, y1, z1], rotation_deg: crop_box_rotation_deg ?? 0 };
}

/** Points to mesh, in true world coordinates. The run owns the column. */
export interface MeshPoints {
  /** vec3d. */
  readonly points: NativeColumn;
  /** vec3d, where the beam of each point came from; null unless that is wanted and known for all of them. */
  readonly origins: NativeColumn | null;
  readonly downsampled: boolean;
  readonly warnings: readonly string[];
}

/** The inline points that belong to a request: beside `sources`, or alone. */
const inlineOf = ({ points, source, sources }: TriangulateRequest) =>
  (sources && sources.length > 0) || !source ? (points ?? []) : [];

/** Rows that are read, before any crop. */
export const rowsOf = (request: TriangulateRequest, sources: readonly MeshSource[]): number =>
  sources.reduce((sum, { session }) => sum + positionsColumn(session.state).length, inlineOf(request).length);

/** Bytes per row: the points and their beam origins read, and once more where they are stacked or thinned out. */
export const READ_BYTES = 2 * 2 * 24;

/**
 * All points of a request: cropped, then limited to the largest max_points of the sources; `known` learns their count.
 * With `with_origins`, beam origins too.
 */
export async function readMeshPoints(
  request: TriangulateRequest,
  sources: readonly MeshSource[],
  { crop, with_origins }: { readonly crop: native.CropBox | null; readonly with_origins: boolean },
  known: { points_used?: number },
  job: Job,
): Promise<MeshPoints> {
  job.stage("Reading points", 0.05, 0.15);
  const parts: NativeColumn[] = [];
  const seen: NativeColumn[] = [];
  const noise: string[] = [];
  let unusable = 0;
  const add = async (
    positions: NativeColumn,
    skip: NativeColumn | null,
    shift: Triple,
    origins: NativeColumn | null,
  ) => {
    const read = await job.track(() => native.meshPoints(positions, skip, { shift, crop, origins }));
    parts.push(job.adopt(new ColumnRef(read.points)).native);
    if (read.origins) seen.push(job.adopt(new ColumnRef(read.origins)).native);
    unusable += read.unusable_count;
  };
  for (const { source, session } of sources) {
    await session.read(job, async (state) => {
      const hits = await surviving(state, job.quiet());
      noise.push(...(await noiseTakesPart(state, hits, job.quiet())));
      const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
      const [tx, ty, tz] = sourceTranslation(source);
      const origins = with_origins ? await beamOrigins(state, job.quiet()) : null;
      await add(positionsColumn(state), hits.skip, [sx + tx, sy + ty, sz + tz], origins);
    });
  }
  const inline = inlineOf(request);
  if (inline.length > 0) await add(job.adopt(pointsColumn(inline)).native, null, [0, 0, 0], null);
  job.stage("Preparing point cloud", 0.15, 0.25);
  const count = parts.reduce((sum, { length }) => sum + length, 0);
  known.points_used = count;
  if (count < MIN_MESH_POINTS) throw tooFew(count, crop !== null);
  const limits = sources.flatMap(({ source: { max_points } }) => (max_points && max_points > 0 ? [max_points] : []));
  const stride = sourceStride(count, limits.length > 0 ? Math.max(...limits) : null);
  const whole = async (columns: readonly NativeColumn[]) =>
    columns.length === 1 && stride === 1 && columns[0]
      ? columns[0]
      : job.adopt(new ColumnRef(await job.track(() => native.stridePoints(columns, stride)))).native;
  const points = await whole(parts);
  known.points_used = points.length;
  if (points.length < MIN_MESH_POINTS) {
    throw new AppError(
      "invalid_argument",
      `max_points leaves ${points.length} of ${count} points: a mesh needs at least ${MIN_MESH_POINTS}.`,
    );
  }
  const left = `${unusable} points are not finite, or beyond 2^100 m, and were left out.`;
  const said = seen.length === parts.length ? await whole(seen) : null;
  const problem = said ? await originsProblem(points, said, job) : null;
  const origins = problem === null ? said : null;
  return {
    points,
    origins,
    downsampled: stride > 1,
    warnings: [
      ...noise,
      ...(unusable > 0 ? [left] : []),
      ...(problem ? [`${problem}: the normals were made without them.`] : []),
    ],
  };
}

function tooFew(count: number, cropped: boolean): AppError {
  const where = cropped ? "The crop box contains" : "There are";
  return new AppError("invalid_argument", `${where} ${count} points: a mesh needs at least ${MIN_MESH_POINTS}.`);
}
