import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import { DEFAULT_CUT_PURSUIT, type Tiling } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_TREE_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/trees.ts";
import { type CostEstimate, costWarning, costWarningOf } from "../run/cost-warning.ts";
import { type ChmPlan, chmPlan } from "./chm-plan.ts";
import type { CheckedChm, CheckedCutPursuit, CheckedPaths, CheckedTrees } from "./tree-filter.ts";
import { groundFindingCost, groundFound, type TerrainPlan, terrainBytes, terrainPlan } from "./tree-heights.ts";
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
        /** Below the stems that are counted afterwards; null: no point is labelled as ground. */
        readonly terrain: TerrainPlan | null;
      }
    | { readonly filter: CheckedPaths; readonly terrain: TerrainPlan; readonly tiles: native.TileWish | null }
  );

/** How to look for trees. */
export interface TreesWish {
  readonly filter: CheckedTrees;
  /** Null: not in tiles. */
  readonly tiling: TilingWish | null;
  /** The user agrees to the cost. */
  readonly acknowledged: boolean;
}

/**
 * A plan with a cost warning is not ready to begin unless the cost is acknowledged: its ground may not have been found.
 * Errors: invalid_argument for too few or too many points, and for a grid or voxels that are too fine.
 */
export async function planTrees(given: TreeInput, wish: TreesWish, deps: Deps, job: Job): Promise<TreesPlan> {
  const { filter, tiling } = wish;
  if (tiling && !(tiling.tile_buffer_m > 0))
    throw new AppError("invalid_argument", `tile_buffer_m must be a number above 0, not ${tiling.tile_buffer_m}`);
  const input = await sorted(given, job);
  const gathered = 28 * given.hit_count + 2 * given.positions.length;
  if (filter.method === "auto") return pathPlan(input, gathered, { ...wish, filter }, deps, job);
  requirePoints(input.vegetation_count, mayTile(filter, tiling), deps);
  if (filter.method === "default")
    return graphPlan({ input, warnings: filter.unused }, gathered, filter, tiling, deps, job);
  const chm = chmPlan(filter, input);
  const warnings = [...filter.unused, ...(tiling?.tiling === "on" ? ["Method chm does not use tiling."] : [])];
  return { input, warnings, filter, chm, bytes: chm.bytes + 2 * gathered, cost_warning: null };
}

const mayTile = ({ method }: CheckedTrees, wish: TilingWish | null) =>
  method !== "chm" && wish !== null && wish.tiling !== "off";

function requireEnough(points: number): void {
  if (points >= MIN_TREE_POINTS) return;
  throw new AppError(
    "invalid_argument",
    `Need at least ${MIN_TREE_POINTS} points that are not ground for tree segmentation, but there are ${points}`,
  );
}

function requirePoints(points: number, tiled: boolean, { config }: Deps): void {
  requireEnough(points);
  const most = tiled ? config.treeMaxPointsTiled : config.treeMaxPoints;
  if (points <= most) return;
  const setting = tiled ? "APP_TREE_MAX_POINTS_TILED" : "APP_TREE_MAX_POINTS";
  throw new AppError(
    "invalid_argument",
    `Tree segmentation takes at most ${most} points that are not ground, but there are ${points}: thin the cloud, segment parts of it, or set ${setting}`,
  );
}

/**
 * Ground, terrain, tiles and cost of cheapest paths. Where no point is labelled as ground it is found first, once the
 * cost of all that follows needs no question; until then every point may be vegetation.
 */
async function pathPlan(
  first: SortedTreeInput,
  gathered: number,
  { filter, tiling, acknowledged }: TreesWish & { readonly filter: CheckedPaths },
  deps: Deps,
  job: Job,
): Promise<TreesPlan> {
  requireEnough(first.vegetation_count);
  const terrain = await terrainPlan(first, job);
  const ready = (input: SortedTreeInput, found: readonly string[], before: CostEstimate): TreesPlan => {
    const { tiles, bytes, seconds } = pathCost(input, tiling, terrain, deps);
    const cost = { seconds: before.seconds + seconds, bytes: gathered + Math.max(before.bytes, bytes) };
    const cost_warning = costWarning(TREES_TOOL, cost, deps);
    const warnings = [...filter.unused, ...terrain.warnings, ...found];
    return { input, warnings, filter, terrain, tiles, bytes: cost.bytes, cost_warning };
  };
  const none = { seconds: 0, bytes: 0 };
  const labelled = first.ground_count > 0;
  const finding = labelled ? none : groundFindingCost(first);
  let plan = ready(first, [], finding);
  if (!labelled) {
    if (plan.cost_warning && !acknowledged) return plan;
    const found = await deps.admission.run(job, TREES_TOOL, gathered + finding.bytes, () => groundFound(first, job));
    plan = ready(found.input, [GROUND_FOUND, ...found.warnings], none);
  }
  requirePoints(plan.input.vegetation_count, mayTile(filter, tiling), deps);
  return plan;
}

const GROUND_FOUND = "No point was labelled as ground; it was found first, as segment_ground does with method auto.";

/** Tiles, time and memory of the terrain and the paths. */
function pathCost(
  { vegetation_count: points, ground_count, positions }: SortedTreeInput,
  wish: TilingWish | null,
  terrain: TerrainPlan,
  { config: { treeMaxPoints, treeTileNodes: tile_nodes } }: Deps,
) {
  const tiled = wish !== null && (wish.tiling === "on" || (wish.tiling === "auto" && points > treeMaxPoints));
  const nodes = 0; // counted by the run, with the voxels that it chooses
  const tiles = tiled ? { nodes, tile_nodes, buffer_m: wish.tile_buffer_m } : null;
  const paths = native.pathTreesBytes(points) + (tiled ? (TILED_BYTES + TILE_POINT_BYTES) * points : 0);
  const bytes = 4 * positions.length + Math.max(paths, terrainBytes(ground_count, terrain));
  return { tiles, bytes, seconds: PATH_SECONDS_PER_POINT * points };
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
  const { positions, not_vegetation, vegetation_count: points, ground_count } = base.input;
  const terrain = ground_count > 0 ? await terrainPlan(base.input, job) : null;
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
  const segmenting = solver + (tiled ? (TILED_BYTES + TILE_POINT_BYTES * share) * points : 0);
  const heights = terrain ? 4 * positions.length + terrainBytes(ground_count, terrain) : 0;
  const bytes = gathered + Math.max(segmenting, heights);
  const seconds = SECONDS_PER_NODE * nodes * widerGraph(params) + SECONDS_PER_POINT * points;
  const cost_warning = graphCost(
    { seconds, bytes },
    { nodes, points, decimate_res1: params.decimate_res1 },
    wish,
    deps,
  );
  const warnings = [...base.warnings, ...(terrain?.warnings ?? [])];
  return { ...base, warnings, filter, params, nodes, tiles, terrain, bytes, cost_warning };
}

/** How many times the neighbours of the published graphs: time grows with the edges. */
const widerGraph = ({ min_nn1, min_nn2 }: native.CutPursuitParams) =>
  Math.max(1, min_nn1 / DEFAULT_CUT_PURSUIT.min_nn1, min_nn2 / DEFAULT_CUT_PURSUIT.min_nn2);

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
