import type { DistanceRequest, DistanceTail } from "../../../shared/contract/c2m.ts";
import type { BulkNumbers } from "../../../shared/contract/geometry.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/registration.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { numbersColumn, sourceSession, sourceStride, sourceTranslation } from "../run/points.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";

const FAILED = "C2M distance computation failed: ";
const NO_POINTS = "No points provided";
const NO_MESH = "No mesh data provided";

/** A request whose sessions, lengths and indices are known to be right. */
export interface CheckedDistance {
  readonly request: DistanceRequest;
  /** null: inline points. */
  readonly session: CloudSession | null;
  readonly unknown_keys: readonly string[];
}

/** Points to measure: the rows that `skip` does not mark. */
interface MeasuredPoints {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  readonly count: number;
  readonly shift: readonly [number, number, number];
  readonly stride: number;
  readonly warnings: readonly string[];
}

/** Errors: not_found; invalid_argument for lists and indices that make no points and no mesh. */
export async function checkDistanceRequest(
  request: DistanceRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedDistance> {
  const { source, points } = request;
  const session = source ? await sourceSession(source, deps) : null;
  if (source) sourceTranslation(source);
  else if (points && points.length % 3 !== 0) {
    throw new AppError("invalid_argument", `points has ${points.length} numbers, not a multiple of 3`);
  }
  const mesh = await meshOf(request, ({ promise }) => promise);
  for (const column of mesh) column.release();
  return { request, session, unknown_keys };
}

/** The mesh's columns: vertices and indices, which the caller releases. Errors: invalid_argument. */
async function meshOf(
  { mesh_vertices, mesh_indices }: DistanceRequest,
  wait: (job: ReturnType<typeof native.meshOfLists>) => Promise<native.NativeMesh>,
): Promise<readonly [ColumnRef, ColumnRef]> {
  const lists = [numbersColumn(mesh_vertices), numbersColumn(mesh_indices)] as const;
  try {
    const mesh = await wait(native.meshOfLists(lists[0].native, lists[1].native));
    return [new ColumnRef(mesh.vertices), new ColumnRef(mesh.indices)];
  } catch (error) {
    throw fromNative(error);
  } finally {
    for (const list of lists) list.release();
  }
}

/** Statistics of the distances. A failure is reported in the tail; a cancel is thrown. */
export async function meshDistance(checked: CheckedDistance, deps: Deps, job: Job): Promise<DistanceTail> {
  const { request, session, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  try {
    job.stage("Reading points", 0.1, 0.5);
    const answer = session
      ? await session.read(job, async (state) => {
          const { skip, hit_count } = await surviving(state, job.quiet());
          const [sx, sy, sz] = state.meta.world_shift ?? [0, 0, 0];
          const [tx, ty, tz] = request.source ? sourceTranslation(request.source) : [0, 0, 0];
          return measured(
            {
              positions: positionsColumn(state),
              skip,
              count: hit_count,
              shift: [sx + tx, sy + ty, sz + tz],
              stride: sourceStride(hit_count, request.source?.max_points),
              warnings: [],
            },
            request,
            deps,
            job,
          );
        })
      : await measured(await inlinePoints(request.points ?? [], job), request, deps, job);
    const warnings = [...named, ...(answer.warnings ?? [])];
    return { ...answer, ...(warnings.length > 0 ? { warnings } : {}) };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = message === NO_POINTS || message === NO_MESH ? message : FAILED + message;
    return { success: false, error, code, ...(named.length > 0 ? { warnings: named } : {}) };
  }
}

async function inlinePoints(points: BulkNumbers, job: Job): Promise<MeasuredPoints> {
  const list = job.adopt(numbersColumn(points)).native;
  const { positions, skip, far_count } = await job.quiet().track(() => native.pointsOfList(list));
  const warning = `${far_count} points lie far from all others, at 800 m or more: they count as sky points and were left out.`;
  return {
    positions: job.adopt(new ColumnRef(positions)).native,
    skip: skip && job.adopt(new ColumnRef(skip)).native,
    count: positions.length - far_count,
    shift: [0, 0, 0],
    stride: 1,
    warnings: far_count > 0 ? [warning] : [],
  };
}

async function measured(points: MeasuredPoints, request: DistanceRequest, deps: Deps, job: Job): Promise<DistanceTail> {
  const { positions, skip, count, shift, stride, warnings } = points;
  const { mesh_vertices, mesh_indices, signed } = request;
  if (count === 0) throw new AppError("invalid_argument", NO_POINTS);
  if (mesh_vertices.length === 0 || mesh_indices.length === 0) throw new AppError("invalid_argument", NO_MESH);
  const bytes = native.pointToMeshBytes(positions.length, mesh_vertices.length / 3, mesh_indices.length / 3, signed);
  const meshBytes = 8 * mesh_vertices.length + 4 * mesh_indices.length;
  return deps.admission.run(job, "Cloud-to-mesh distance", bytes + meshBytes, async () => {
    const [vertices, indices] = await meshOf(request, (started) => job.quiet().track(() => started));
    const mesh = { vertices: job.adopt(vertices).native, indices: job.adopt(indices).native };
    job.stage("Building raycasting scene", 0.5, 1, [
      { name: "Building raycasting scene", weight: 4 },
      { name: "Computing distances", weight: 1 },
    ]);
    const params = { shift, stride, with_sides: signed };
    const found = await job.track(() => native.pointToMeshDistance(positions, skip, mesh, params));
    job.adopt(new ColumnRef(found.distances));
    job.stage("Done", 1, 1);
    return report(found, [...warnings, ...(found.unmeasured_count > 0 ? [unmeasured(found.unmeasured_count)] : [])]);
  });
}

const unmeasured = (count: number) => `${count} points have no finite coordinates and were left out.`;

function report({ spread, sides, point_count }: native.MeshDistances, given: readonly string[]): DistanceTail {
  if (!spread) throw new AppError("invalid_argument", "none of the points has finite coordinates");
  const { points_within_percent, bin_width_m, bin_counts, band_thresholds_m, ...statistics } = spread;
  const [points_within_1mm, points_within_5mm, points_within_10mm] = points_within_percent;
  const warnings = [...given, ...(sides && !sides.defined ? [sideless(sides)] : [])];
  return {
    success: true,
    error: null,
    ...statistics,
    points_within_1mm,
    points_within_5mm,
    points_within_10mm,
    point_count,
    band_thresholds_m: [...band_thresholds_m],
    histogram: { bin_width_m, counts: [...bin_counts] },
    ...(sides
      ? {
          sign_defined: sides.defined,
          signed_mean: sides.defined ? sides.mean : null,
          signed_std: sides.defined ? sides.std_deviation : null,
        }
      : {}),
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

function sideless({ open_edge_count, flat_count }: native.SidedSpread): string {
  const why =
    open_edge_count > 0
      ? `the mesh is not closed: ${open_edge_count} edges do not join two triangles of the same winding`
      : `${flat_count} triangles of the mesh are too thin for a normal; remove them`;
  return `Inside and outside are not defined, so there are no signed distances: ${why}.`;
}
