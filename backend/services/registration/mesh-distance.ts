import type { DistanceRequest, DistanceTail } from "../../../shared/contract/c2m.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/registration.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { checkMesh, isEmptyMesh, type MeshLists, meshOf } from "./mesh.ts";
import { type CheckedPoints, type ComparedPoints, checkPoints, withPoints } from "./points.ts";

const FAILED = "C2M distance computation failed: ";
const NO_POINTS = "No points provided";
const NO_MESH = "No mesh data provided";

/** A request whose sessions, lengths and indices are known to be right. */
export interface CheckedDistance {
  readonly request: DistanceRequest;
  readonly points: CheckedPoints;
  readonly unknown_keys: readonly string[];
}

const meshLists = ({ mesh_vertices, mesh_indices }: DistanceRequest): MeshLists => ({
  name: "mesh",
  vertices: mesh_vertices,
  indices: mesh_indices,
});

/** Errors: not_found; invalid_argument for lists and indices that make no points and no mesh. */
export async function checkDistanceRequest(
  request: DistanceRequest,
  unknown_keys: readonly string[],
  deps: Deps,
): Promise<CheckedDistance> {
  const points = await checkPoints(request.points ?? null, request.source ?? null, "points", deps);
  await checkMesh(meshLists(request));
  return { request, points, unknown_keys };
}

/** Statistics of the distances. A failure is reported in the tail; a cancel is thrown. */
export async function meshDistance(checked: CheckedDistance, deps: Deps, job: Job): Promise<DistanceTail> {
  const { request, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  try {
    job.stage("Reading points", 0.1, 0.5);
    const answer = await withPoints(checked.points, job, (points) => measured(points, request, deps, job));
    const warnings = [...named, ...(answer.warnings ?? [])];
    return { ...answer, ...(warnings.length > 0 ? { warnings } : {}) };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = message === NO_POINTS || message === NO_MESH ? message : FAILED + message;
    return { success: false, error, code, ...(named.length > 0 ? { warnings: named } : {}) };
  }
}

async function measured(points: ComparedPoints, request: DistanceRequest, deps: Deps, job: Job): Promise<DistanceTail> {
  const { positions, skip, count, shift, stride, warnings } = points;
  const { mesh_vertices, mesh_indices, signed } = request;
  if (count === 0) throw new AppError("invalid_argument", NO_POINTS);
  if (isEmptyMesh(meshLists(request))) throw new AppError("invalid_argument", NO_MESH);
  const bytes = native.pointToMeshBytes(positions.length, mesh_vertices.length / 3, mesh_indices.length / 3, signed);
  const meshBytes = 8 * mesh_vertices.length + 4 * mesh_indices.length;
  return deps.admission.run(job, "Cloud-to-mesh distance", bytes + meshBytes, async () => {
    const mesh = await meshOf(meshLists(request), job);
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
