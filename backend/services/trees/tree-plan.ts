import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import type { Tiling } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_TREE_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/trees.ts";
import { costWarning, costWarningOf } from "../run/cost-warning.ts";
import { type ChmPlan, chmPlan } from "./chm-plan.ts";
import type { CheckedChm, CheckedCutPursuit, CheckedPaths, CheckedTrees } from "./tree-filter.ts";
import { withGround } from "./tree-heights.ts";
import { type SortedTreeInput, sorted, type TreeInput } from "./tree-input.ts";

/** Also the `tool` of the endpoint. */
export const TREES_TOOL = "Tree segmentation";

/** Seconds of the cut-pursuit segmentation: docs/bench.md. */
const SECONDS_PER_NODE = 1.2e-5;
const SECONDS_PER_POINT = 1.5e-6;
const PATH_SECONDS_PER_POINT = 6e-6;
/** Bytes per point for measuring spacing and counting nodes: cpp/ops/trees/tree_decimation.h. */
const MEASURING_BYTES = 64;
/** Bytes per point of a cloud in tiles, and of its points in a tile: cpp/ops/trees/tree_tiles.h. */
const TILED_BYTES = 24;
const TILE_POINT_BYTES = 28;

/** Whether and how a cloud may be divided. */
export interface TilingWish {
  readonly tiling: Tiling;
  readonly tile_buffer_m: number;
}

interface PlanBase {
  readonly input: SortedTreeInput;
  readonly bytes: number;
  readonly warnings: readonly string[];
  /** Null: nothing to ask. */
  readonly cost_warning: CostWarning | null;
}

/** A run that is ready to begin. */
export type TreesPlan = PlanBase &
  (
    | { readonly filter: CheckedChm; readonly chm: ChmPlan }
    | {
        readonly filter: CheckedCutPursuit;
        /** With the voxels to use. */
        readonly params: native.CutPursuitParams;
        readonly nodes: number;
        readonly tiles: native.TileWish | null;
      }
    | { readonly filter: CheckedPaths; readonly tiles: native.TileWish | null }
  );

/** Errors: invalid_argument for too few or too many points, and for a grid or voxels that are too fine. */
export async function planTrees(
  given: TreeInput,
  filter: CheckedTrees,
  wish: TilingWish | null,
  deps: Deps,
  job: Job,
): Promise<TreesPlan> {
  if (wish && !(wish.tile_buffer_m > 0))
    throw new AppError("invalid_argument", `tile_buffer_m must be a number above 0, not ${wish.tile_buffer_m}`);
  const first = await sorted(given, job);
  const { input, warnings: found } =
    filter.method === "auto" && first.vegetation_count >= MIN_TREE_POINTS
      ? await withGround(first, job)
      : { input: first, warnings: [] };
  requirePoints(input.vegetation_count, mayTile(filter, wish), deps);
  const base = { input, warnings: [...filter.unused, ...found] };
  const gathered = 28 * given.hit_count + 2 * given.positions.length;
  if (filter.method === "default") return graphPlan(base, gathered, filter, wish, deps, job);
  if (filter.method === "auto") return pathPlan(base, gathered, filter, wish, deps);
  const { vegetation_count, extent } = input;
  const chm = chmPlan(filter, vegetation_count, extent);
  const warnings = [...base.warnings, ...(wish?.tiling === "on" ? ["Method chm does not use tiling."] : [])];
  return { ...base, warnings, filter, chm, bytes: chm.bytes + 2 * gathered, cost_warning: null };
}

const mayTile = ({ method }: CheckedTrees, wish: TilingWish | null) =>
  method !== "chm" && wish !== null && wish.tiling !== "off";

function requirePoints(points: number, tiled: boolean, { config }: Deps): void {
  if (points < MIN_TREE_POINTS) {
    throw new AppError(
      "invalid_argument",
      `Need at least ${MIN_TREE_POINTS} points that are not ground for tree segmentation, but there are ${points}`,
    );
  }
  const most = tiled ? config.treeMaxPointsTiled : config.treeMaxPoints;
  if (points <= most) return;
  const setting = tiled ? "APP_TREE_MAX_POINTS_TILED" : "APP_TREE_MAX_POINTS";
  throw new AppError(
    "invalid_argument",
    `Tree segmentation takes at most ${most} points that are not ground, but there are ${points}: thin the cloud, segment parts of it, or set ${setting}`,
  );
}

/** Tiles and cost of cheapest paths. */
function pathPlan(
  base: Pick<PlanBase, "input" | "warnings">,
  gathered: number,
  filter: CheckedPaths,
  wish: TilingWish | null,
  deps: Deps,
): TreesPlan {
  const points = base.input.vegetation_count;
  const { treeMaxPoints, treeTileNodes: tile_nodes } = deps.config;
  const tiled = wish !== null && (wish.tiling === "on" || (wish.tiling === "auto" && points > treeMaxPoints));
  const nodes = 0; // counted by the run, with the voxels that it chooses
  const tiles = tiled ? { nodes, tile_nodes, buffer_m: wish.tile_buffer_m } : null;
  const bytes = gathered + native.pathTreesBytes(points) + (tiled ? (TILED_BYTES + TILE_POINT_BYTES) * points : 0);
  const cost_warning = costWarning(TREES_TOOL, { seconds: PATH_SECONDS_PER_POINT * points, bytes }, deps);
  return { ...base, filter, tiles, bytes, cost_warning };
}

/** Voxels, tiles and cost of a cut-pursuit segmentation. */
async function graphPlan(
  base: Pick<PlanBase, "input" | "warnings">,
  gathered: number,
  filter: CheckedCutPursuit,
  wish: TilingWish | null,
  deps: Deps,
  job: Job,
): Promise<TreesPlan> {
  const { positions, not_vegetation, vegetation_count: points } = base.input;
  const { decimate_res1, decimate_res2 } = filter.params;
  const voxels = await deps.admission.run(job, TREES_TOOL, gathered + MEASURING_BYTES * points, () =>
    job.track(() => native.treeDecimation(positions, not_vegetation, decimate_res1, decimate_res2)),
  );
  const { treeMaxNodes, treeMaxPoints, treeTileNodes: tile_nodes } = deps.config;
  const large = voxels.tile.nodes > treeMaxNodes || points > treeMaxPoints;
  const tiled = wish !== null && (wish.tiling === "on" || (wish.tiling === "auto" && large));
  const { nodes, ...used } = tiled ? voxels.tile : voxels.whole;
  const params = { ...filter.params, ...used };
  const tiles = tiled ? { nodes, tile_nodes, buffer_m: wish.tile_buffer_m } : null;
  const share = tiled ? Math.min(1, (2 * tile_nodes) / nodes) : 1;
  const solver = native.cutPursuitTreesBytes(Math.ceil(share * points), Math.ceil(share * nodes), params);
  const bytes = gathered + solver + (tiled ? (TILED_BYTES + TILE_POINT_BYTES * share) * points : 0);
  const seconds = SECONDS_PER_NODE * nodes + SECONDS_PER_POINT * points;
  const cost_warning = graphCost(
    { seconds, bytes },
    { nodes, points, decimate_res1: params.decimate_res1 },
    wish,
    deps,
  );
  return { ...base, filter, params, nodes, tiles, bytes, cost_warning };
}

/** The question whether to start: contract classification section 4. */
function graphCost(
  estimate: { readonly seconds: number; readonly bytes: number },
  graph: { readonly nodes: number; readonly points: number; readonly decimate_res1: number },
  wish: TilingWish | null,
  deps: Deps,
): CostWarning | null {
  const node_guideline = deps.config.treeMaxNodes;
  const more = { ...graph, node_guideline };
  if (graph.nodes <= node_guideline) {
    const asked = costWarning(TREES_TOOL, estimate, deps);
    return asked && { ...asked, ...more };
  }
  const tiles = Math.ceil(graph.nodes / deps.config.treeTileNodes);
  const how = wish && wish.tiling !== "off" ? `, in about ${tiles} tiles` : "";
  const minutes = Math.ceil(estimate.seconds / 60);
  const what = `${TREES_TOOL} has ${(graph.nodes / 1e6).toFixed(1)} M graph nodes (guideline ${(node_guideline / 1e6).toFixed(1)} M) and may take up to ${minutes} min${how}`;
  return costWarningOf(estimate, what, more, deps);
}
