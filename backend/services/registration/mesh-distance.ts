import type { DistanceRequest, DistanceSuccess, DistanceTail } from "../../../shared/contract/c2m.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_DISTANCE_BANDS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/registration.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { publishLabels } from "../classify/label-column.ts";
import { opDevice } from "../run/device.ts";
import { unknownKeyWarnings } from "../run/unknown-keys.ts";
import { checkMesh, isEmptyMesh, type MeshLists, meshOf } from "./mesh.ts";
import { type CheckedPoints, type ComparedPoints, type ComparedSession, checkPoints, withPoints } from "./points.ts";
import { elsewhere } from "./sizes.ts";

const FAILED = "C2M distance computation failed: ";
const NO_POINTS = "No points provided";
const NO_MESH = "No mesh data provided";
/** The column of write_column. */
const COLUMN = { slug: "mesh_distance", label: "Distance to Mesh" } as const;

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
  checkOptions(request);
  return { request, points, unknown_keys };
}

/** Errors: invalid_argument for bands that are no distances, and a column without a row for every point. */
function checkOptions({ bands_m, write_column, source }: DistanceRequest): void {
  const bands = bands_m ?? [];
  if (bands.length > MAX_DISTANCE_BANDS) {
    throw new AppError("invalid_argument", `bands_m has ${bands.length} distances, more than ${MAX_DISTANCE_BANDS}`);
  }
  const wrong = bands.find((band) => band < 0);
  if (wrong !== undefined) throw new AppError("invalid_argument", `bands_m has ${wrong}; a distance is at least 0`);
  if (!write_column) return;
  if (!source) throw new AppError("invalid_argument", "write_column needs a source: inline points have no columns");
  if ((source.max_points ?? 0) > 0) {
    throw new AppError("invalid_argument", "write_column needs all points of the source; leave max_points out");
  }
}

/** Statistics of the distances. A failure is reported in the tail; a cancel is thrown. */
export async function meshDistance(checked: CheckedDistance, deps: Deps, job: Job): Promise<DistanceTail> {
  const { request, unknown_keys } = checked;
  const named = unknownKeyWarnings(unknown_keys);
  try {
    job.stage("Reading points", 0.1, 0.5);
    const answer = await withPoints(checked.points, job, (points, of) => measured(points, of, request, deps, job));
    const warnings = [...named, ...(answer.warnings ?? [])];
    return { ...answer, ...(warnings.length > 0 ? { warnings } : {}) };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    const error = message === NO_POINTS || message === NO_MESH ? message : FAILED + message;
    return { success: false, error, code, ...(named.length > 0 ? { warnings: named } : {}) };
  }
}

async function measured(
  points: ComparedPoints,
  of: ComparedSession | null,
  request: DistanceRequest,
  deps: Deps,
  job: Job,
): Promise<DistanceTail> {
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
    const bands_m = request.bands_m ?? [];
    const params = { shift, stride, with_sides: signed, bands_m };
    const device = await opDevice(deps);
    const found = await job.track(() => native.pointToMeshDistance(positions, skip, mesh, params, device));
    const labels = job.adopt(new ColumnRef(found.distances));
    const lost = found.unmeasured_count > 0 ? [unmeasured(found.unmeasured_count)] : [];
    const said = [...warnings, ...lost, ...placement(found), ...found.warnings];
    const answer = report(found, request.bands_m ?? null, said);
    if (request.write_column && of) {
      const publishing = { defer_octree: true, mask: of.mask };
      await publishLabels(of.session, of.state, { ...COLUMN, labels }, publishing, deps, job);
    }
    job.stage("Done", 1, 1);
    return request.write_column ? { ...answer, column: COLUMN.slug } : answer;
  });
}

/** band_thresholds_m: 0.1, 0.5 and 1 % of the diagonal of the points (cpp/ops/registration/point_to_mesh_distance.h). */
function placement({ spread, mesh_diagonal_m }: native.MeshDistances): string[] {
  if (!spread) return [];
  const cloud = { name: "cloud", size: 100 * (spread.band_thresholds_m[2] ?? 0) };
  return elsewhere(cloud, { name: "mesh", size: mesh_diagonal_m }, spread.min_distance, spread.median_distance);
}

const unmeasured = (count: number) => `${count} points have no finite coordinates and were left out.`;

function report(
  { spread, sides, point_count }: native.MeshDistances,
  bands_m: readonly number[] | null,
  given: readonly string[],
): DistanceSuccess {
  if (!spread) throw new AppError("invalid_argument", "none of the points has finite coordinates");
  const { points_within_percent, asked_percent, bin_width_m, bin_counts, band_thresholds_m, ...statistics } = spread;
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
    ...(bands_m ? { bands: bands_m.map((limit_m, i) => ({ limit_m, percent: asked_percent[i] ?? Number.NaN })) } : {}),
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
