import type { SkeletonRequest, SkeletonResponse } from "../../../shared/contract/skeleton.ts";
import { MIN_SKELETON_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import * as native from "../../native/skeleton.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { copyOut } from "../run/points.ts";
import { inlinePoints, type PlantPoints, sourcePoints } from "./skeleton-input.ts";
import { blockList, countBranches, nodeList, pairList } from "./skeleton-lists.ts";

/** Also the `tool` of the endpoint. */
export const SKELETON_TOOL = "Skeleton";

/** The skeleton of inline points or of a session. Points that have none are reported in `error` of the answer. */
export async function extractSkeleton(
  request: SkeletonRequest,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<SkeletonResponse> {
  const { points, source } = request;
  if (session && source)
    return session.read(job, async (state) => admitted(await sourcePoints(state, source, job.quiet())));
  return admitted(inlinePoints(points ?? [], job));

  function admitted(plant: PlantPoints): Promise<SkeletonResponse> {
    const bytes = native.skeletonBytes(plant.count, request.max_neighbors);
    return deps.admission.run(job, SKELETON_TOOL, bytes, async () => {
      const { positions, skip, offset, noise } = plant;
      const found = await job.track(() => native.levelSetSkeleton(positions, skip, paramsOf(request), offset));
      const skeleton = await answer(request, found, job);
      return { ...skeleton, warnings: [...noise, ...skeleton.warnings] };
    });
  }
}

const paramsOf = (request: SkeletonRequest): native.SkeletonParams => ({
  remove_outliers: request.remove_outliers,
  outlier_nb_neighbors: request.outlier_nb_neighbors,
  outlier_std_ratio: request.outlier_std_ratio,
  search_radius_m: request.search_radius ?? null,
  max_neighbors: request.max_neighbors,
  root_threshold_m: request.root_threshold,
  quantization_levels: request.quantization_levels,
  use_nonlinear_quantization: request.use_nonlinear_quantization,
  threshold_filter: request.threshold_filter,
  use_proportion_filter: request.use_proportion_filter,
  proportion_threshold: request.proportion_threshold,
  smooth_skeleton: request.smooth_skeleton,
  smoothing_iterations: request.smoothing_iterations,
  recenter: request.recenter,
});

/** A column that the run owns, as numbers. */
async function numbers<T extends Float64Array | Uint32Array>(column: NativeColumn, out: T, job: Job): Promise<T> {
  job.adopt(new ColumnRef(column));
  await copyOut(column, new Uint8Array(out.buffer));
  return out;
}

async function answer(request: SkeletonRequest, found: native.NativeSkeleton, job: Job): Promise<SkeletonResponse> {
  const blocks = await numbers(found.blocks, new Float64Array(found.blocks.length), job);
  const places = await numbers(found.points, new Float64Array(found.points.length), job);
  const edges = await numbers(found.edges, new Uint32Array(found.edges.length), job);
  const orders = await numbers(found.branch_orders, new Uint32Array(found.branch_orders.length), job);
  job.checkpoint();
  return {
    success: found.failure === null,
    skeleton_points: nodeList(places),
    skeleton_edges: pairList(edges),
    branch_orders: orders as unknown as number[],
    total_length: found.total_length_m,
    num_nodes: orders.length,
    num_edges: edges.length / 2,
    num_branches: countBranches(edges, orders.length),
    max_branch_order: orders.reduce((most, order) => Math.max(most, order), 0),
    blocks: blockList(blocks),
    points_before_filtering: found.points_before,
    points_after_filtering: found.points_after,
    num_blocks_before_filter: found.blocks_before,
    num_blocks_after_filter: found.blocks_after,
    dominant_axis: request.dominant_axis,
    slice_thickness: 0,
    num_slices: orders.length,
    diameters: null,
    search_radius: found.search_radius_m,
    points_reached: found.reached,
    warnings: found.failure === null ? warningsOf(found, request) : [],
    ...(found.failure === null
      ? { error: null }
      : { error: reason(found.failure, found, request), code: "invalid_argument" }),
  };
}

const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`;

/** Points whose links end at their number, and not at the search radius, from which more of the radius reaches no more. */
const CROWDED_SHARE = 0.5;

/** What reaches more points. */
function wayOut({ crowded, points_after }: native.NativeSkeleton, { max_neighbors }: SkeletonRequest): string {
  return crowded > CROWDED_SHARE * points_after
    ? `points are linked to their ${max_neighbors} nearest alone (max_neighbors), and these lie close together: thin the points, or raise max_neighbors`
    : "try a larger search_radius";
}

function warningsOf(found: native.NativeSkeleton, request: SkeletonRequest): string[] {
  const { non_finite, points_after, reached, joined_roots } = found;
  const lost = points_after - reached;
  return [
    ...(non_finite > 0 ? [`${non_finite} points with a coordinate that is not finite are left out.`] : []),
    ...(lost > 0
      ? [
          `${lost} points (${share(lost, points_after)}) are not linked to the base within ${metres(found)} and are left out; ${wayOut(found, request)}.`,
        ]
      : []),
    ...(joined_roots > 0
      ? [`The base is in ${joined_roots + 1} pieces that no points link; the smaller ones are joined to the largest.`]
      : []),
  ];
}

const metres = ({ search_radius_m }: native.NativeSkeleton) => `${Number(search_radius_m.toPrecision(3))} m`;

function reason(failure: native.SkeletonFailure, found: native.NativeSkeleton, request: SkeletonRequest): string {
  const { points_before, points_after, reached } = found;
  switch (failure) {
    case "few_points":
      return `Need at least ${MIN_SKELETON_POINTS} points for a skeleton, but there are ${points_before}.`;
    case "few_after_outliers":
      return `Only ${points_after} of ${points_before} points are left after the outlier removal, and a skeleton needs ${MIN_SKELETON_POINTS}: raise outlier_std_ratio or turn remove_outliers off.`;
    case "no_roots":
      return `No root points: no point is less than root_threshold ${request.root_threshold} m above the lowest one. Raise root_threshold.`;
    case "unreached":
      return `The search from the base reached only ${reached} of ${points_after} points (${share(reached, points_after)}) with edges up to ${metres(found)}: ${wayOut(found, request)}.`;
    case "no_blocks":
      return `None of ${found.blocks_before} blocks has ${request.threshold_filter} points: lower threshold_filter or quantization_levels.`;
    case "few_blocks":
      return `Only one of ${found.blocks_before} blocks is left after filtering, and a skeleton needs two: lower threshold_filter or proportion_threshold, or raise quantization_levels.`;
  }
}
