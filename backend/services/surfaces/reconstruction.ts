import type { TriangulateRequest } from "../../../shared/contract/triangulate.ts";
import { AppError } from "../../../shared/errors.ts";
import {
  DEFAULT_NORMAL_NEIGHBORS,
  DEFAULT_NORMAL_RADIUS_M,
  DEFAULT_POISSON_DEPTH,
  MAX_POISSON_DEPTH,
  MIB,
} from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/reconstruction.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { type MeshRequest, type Method, meshingStage, told } from "./method.ts";

/** Of a normal column, per point. */
const NORMAL_BYTES = 24;
/** Neighbours that a point is linked with when normals are oriented. */
const GRAPH_NEIGHBORS = 15;
/** If more of the points have too few neighbours within the radius, it does not fit the cloud. */
const UNESTIMATED_SHARE = 0.05;
/** Points of a tile of a cloud of uneven density. */
const TILE_POINTS = 120_000;
/** Measured on spheres, solids and planes: cells hold at least 0.6 points, and a surface passes few of a level. */
const POISSON_BYTES_PER_POINT = 15_000;
const POISSON_BYTES_PER_SQUARE = 32_000;

/** The filter begins at 0.70 of the run. */
const POISSON_PHASES = [
  { name: "Meshing (poisson)", weight: 25 },
  { name: "Filtering low-density vertices", weight: 15 },
];

type Orientation = native.NormalsParams["orientation"];

function normalsParams(request: MeshRequest, without_origins: Orientation): native.NormalsParams {
  const { normal_radius, normal_max_nn } = request;
  return {
    radius: normal_radius ?? DEFAULT_NORMAL_RADIUS_M,
    max_nn: normal_max_nn ?? DEFAULT_NORMAL_NEIGHBORS,
    orientation: request.origins ? "toward_origins" : without_origins,
    graph_neighbors: GRAPH_NEIGHBORS,
  };
}

/** Errors: invalid_argument for options of the normals. */
function checkNormals({ estimate_normals, normal_radius, normal_max_nn, method }: TriangulateRequest): void {
  if (estimate_normals === false) {
    throw refused(`estimate_normals is false, but ${method} needs normals, and points carry none: leave it out`);
  }
  if (normal_radius !== null && normal_radius !== undefined && !(normal_radius > 0)) {
    throw refused(`normal_radius is ${normal_radius}: it must be positive, in metres`);
  }
  const most = normal_max_nn ?? DEFAULT_NORMAL_NEIGHBORS;
  if (!Number.isInteger(most) || most < 3 || most > 1000) {
    throw refused(`normal_max_nn is ${most}: it must be a whole number from 3 to 1000`);
  }
}

const refused = (message: string) => new AppError("invalid_argument", message);

/** Normals of the points (vec3d, zero = none), which the run owns. */
async function normalsOf(points: NativeColumn, request: MeshRequest, without_origins: Orientation, job: Job) {
  const params = normalsParams(request, without_origins);
  const { origins } = request;
  job.stage("Estimating normals", 0.25, 0.45);
  const within = await job.track(() => native.estimateNormals(points, origins, params));
  const column = job.adopt(new ColumnRef(within.normals));
  if (within.unestimated_count <= UNESTIMATED_SHARE * points.length)
    return { normals: column.native, component_count: within.component_count, warnings: [] };
  job.releaseEarly(column);
  const nearest = await job.track(() => native.estimateNormals(points, origins, { ...params, radius: null }));
  return {
    normals: job.adopt(new ColumnRef(nearest.normals)).native,
    component_count: nearest.component_count,
    warnings: [
      `${within.unestimated_count} of ${points.length} points have fewer than three neighbours within normal_radius ${params.radius} m: all normals come from the ${params.max_nn} nearest points, however far.`,
    ],
  };
}

const ignored = (count: number) =>
  told(count, "points have no normal or lie at the place of another, and were left out.");

const orientedBy = ({ origins }: MeshRequest) => ({ oriented_by: origins ? "beam_origins" : "neighbors" }) as const;

export const ballPivoting: Method = {
  uses_origins: false, // fewer holes, but up to a third more area in noisy rooms: docs/accuracy.md
  bytes: (points, request) =>
    NORMAL_BYTES * points +
    Math.max(native.normalsBytes(points, normalsParams(request, "agreeing")), native.ballPivotingBytes(points)),
  check: checkNormals,
  async mesh(points, request, job) {
    const { normals, component_count, warnings } = await normalsOf(points, request, "agreeing", job);
    meshingStage("ball pivoting", job);
    const radii = [...(request.radii ?? [])].sort((a, b) => a - b);
    const params = { radii, tile_points: TILE_POINTS, sides_are_known: false };
    const found = await job.track(() => native.ballPivoting(points, normals, params));
    return {
      vertices: points,
      indices: job.adopt(new ColumnRef(found.indices)).native,
      warnings: [...warnings, ...ignored(found.ignored_count)],
      details: {
        oriented_by: component_count > 0 ? ("neighbors" as const) : ("centroid" as const),
        tile_count: found.tile_count,
        ...(radii.length === 0 ? { filled_hole_count: found.filled_hole_count } : {}),
        ...(found.radii.length > 0 ? { radii_m: [...found.radii] } : {}),
      },
    };
  },
};

const depthOf = ({ depth }: TriangulateRequest) => depth ?? DEFAULT_POISSON_DEPTH;

/** What the octree of a reconstruction may take. */
function octreeBytes(points: number, request: MeshRequest): number {
  const expected = Math.min(POISSON_BYTES_PER_POINT * points, POISSON_BYTES_PER_SQUARE * 4 ** depthOf(request));
  return Math.min(expected + 64 * MIB, request.budget_bytes);
}

export const poisson: Method = {
  uses_origins: true,
  bytes: (points, request) =>
    NORMAL_BYTES * points +
    Math.max(
      native.normalsBytes(points, normalsParams(request, "consistent")),
      native.poissonBytes(points) + octreeBytes(points, request),
    ),
  check(request) {
    checkNormals(request);
    const depth = depthOf(request);
    if (Number.isInteger(depth) && depth >= 1 && depth <= MAX_POISSON_DEPTH) return;
    throw refused(`depth is ${depth}: it must be a whole number from 1 to ${MAX_POISSON_DEPTH}`);
  },
  async mesh(points, request, job) {
    const { normals, warnings } = await normalsOf(points, request, "consistent", job);
    meshingStage("poisson", job, POISSON_PHASES);
    const found = await job.track(() =>
      native.poissonSurface(points, normals, {
        depth: depthOf(request),
        scale: 1.1,
        samples_per_node: 0.6,
        point_weight: 2,
        trim: true,
        memory_bytes: octreeBytes(points.length, request),
      }),
    );
    return {
      vertices: job.adopt(new ColumnRef(found.vertices)).native,
      indices: job.adopt(new ColumnRef(found.indices)).native,
      warnings: [
        ...warnings,
        ...ignored(found.ignored_count),
        ...told(
          found.trimmed_count,
          "vertices were farther from the points than their spacing explains, and were dropped.",
        ),
        ...told(found.speck_count, "vertices of parts as small as noise were dropped."),
      ],
      details: { ...orientedBy(request), depth_used: found.depth },
    };
  },
};
