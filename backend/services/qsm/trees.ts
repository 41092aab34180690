import { availableParallelism } from "node:os";
import {
  TREE_QSM_POINTS,
  type TreeQsmRequest,
  type TreeQsmResult,
  type TreeQsmTail,
} from "../../../shared/contract/cloud-session/tree-qsm.ts";
import { AppError, type ErrorCode } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { cutTreesBytes } from "../../native/cut-trees.ts";
import { flatTreesBytes } from "../../native/flat-trees.ts";
import * as native from "../../native/qsm.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { positionsColumn } from "../octree/columns.ts";
import { scanNumbers } from "../octree/scan-column.ts";
import { TALLEST_TREE_M, tallPlantWarnings } from "../run/unstated-units.ts";
import { cutWarnings } from "../trees/cut-trees.ts";
import { hasStamps } from "../trees/inventory.ts";
import { flatWarnings } from "../trees/no-trees.ts";
import { scanFitLook } from "../trees/scan-fit.ts";
import { BatchProgress } from "./batch-progress.ts";
import { noModel, paramsOf } from "./build.ts";
import { implausibleWarnings, twigWarnings } from "./implausible.ts";
import { modelOf, plausible, type QsmModel, withoutIntervals } from "./model.ts";
import { swayingTreeWarnings } from "./swaying-trees.ts";
import { thinnedTreeWarnings } from "./thinned-trees.ts";
import { type BatchTrees, batchTrees } from "./tree-rows.ts";

/** Trees of so many used points take all cores, one after another; smaller ones one core each. */
const LARGE_TREE_POINTS = 200_000;
/** Bytes per row of the trees' order and masks. */
const ORDER_ROW_BYTES = 21;
/** A gathered point. */
const POINT_BYTES = 24;
/** A failure that is that of the tree, and not of the machine. */
const FAILURES_OF_A_TREE: ReadonlySet<string> = new Set(["invalid_argument", "internal", "unsupported"]);

/** The answer; the records of its models are made while it is written. */
export type TreeQsmAnswer = Omit<TreeQsmTail, "results"> & { readonly results: readonly TreeAnswer[] };
type TreeAnswer = Omit<TreeQsmResult, "cylinders" | "shoots"> & Partial<Pick<QsmModel, "cylinders" | "shoots">>;

/** One model per tree of a session. A failure of the run is reported in the tail, that of a tree in its result. */
export async function treeModels(
  session: CloudSession,
  request: TreeQsmRequest,
  deps: Deps,
  job: Job,
): Promise<TreeQsmAnswer> {
  try {
    checkBudget(request);
    return await session.read(job, async (state) => {
      job.stage("Indexing trees", 0.01, 0.02);
      const rows = positionsColumn(state).length;
      const look = await scanFitLook(state, request.skip_noise, deps, job.quiet());
      const models = ORDER_ROW_BYTES * rows + modelBytes(rows, request, hasStamps(state, scanNumbers(state)));
      const bytes = Math.max(
        look.bytes,
        ORDER_ROW_BYTES * rows + Math.max(cutTreesBytes(rows), flatTreesBytes(rows)),
        models,
      );
      return deps.admission.run(job, "Tree QSM", bytes, async () => {
        const drift = await look.warnings(job.quiet());
        const trees = await batchTrees(state, request, job.quiet());
        job.stage(`Tree 1/${trees.trees.length}: Reading points`, 0.02, 0.99);
        const results = await allModels(trees, request, job);
        job.stage("Done", 1, 1);
        const warnings = [
          ...twigWarnings(request.twig_radius_mm),
          ...trees.warnings,
          ...thinnedTreeWarnings(results, request),
          ...drift,
          ...swayingTreeWarnings(results),
          ...cutTreeWarnings(results, trees),
          ...flatTreeWarnings(results, trees),
          ...tallPlantWarnings(heightsOf(results), trees.unit_is_stated),
        ];
        return { success: true, results, warnings, error: null };
      });
    });
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return { success: false, results: [], warnings: [], error: message, code };
  }
}

const heightsOf = (results: readonly TreeAnswer[]) =>
  results.flatMap(({ metrics }) => (metrics && metrics.tree_height_m <= TALLEST_TREE_M ? [metrics.tree_height_m] : []));

function flatTreeWarnings(results: readonly TreeAnswer[], { flat }: BatchTrees): string[] {
  const models = results.filter(({ success }) => success);
  const ids = models.flatMap(({ tree_id }) => (flat.has(tree_id) ? [tree_id] : []));
  return flatWarnings(ids, models.length, "Their models are of no wood, without intervals of volumes.");
}

function cutTreeWarnings(results: readonly TreeAnswer[], { cut }: BatchTrees): string[] {
  const models = results.filter(({ success }) => success);
  const parts = models.flatMap(({ tree_id }) => cut.get(tree_id) ?? []);
  const effect = "Their models are those of the part within, without intervals of volumes (cut_width_m, cut_top).";
  return cutWarnings(parts, models.length, effect);
}

/** Memory of as many trees as are built side by side: none has more points than the cloud, or than the budget. */
function modelBytes(rows: number, { max_points_per_tree: most }: TreeQsmRequest, hasViews: boolean): number {
  return POINT_BYTES * rows + availableParallelism() * native.modelTreeBytes(Math.min(rows, most + 1), most, hasViews);
}

function checkBudget({ max_points_per_tree: points }: TreeQsmRequest): void {
  const { least, most } = TREE_QSM_POINTS;
  if (Number.isInteger(points) && points >= least && points <= most) return;
  throw new AppError(
    "invalid_argument",
    `max_points_per_tree ${points} is out of range; it must be a whole number from ${least} to ${most}.`,
  );
}

/** The largest trees begin; a tree that fails does not end the others. */
async function allModels(trees: BatchTrees, request: TreeQsmRequest, job: Job): Promise<TreeAnswer[]> {
  const results: TreeAnswer[] = [];
  const progress = new BatchProgress(job, trees.trees.length);
  let begun = 0;
  const next = async (tree: BatchTrees["trees"][number], own: Job) => {
    begun += 1;
    const place = begun;
    const start = (rows: native.ModelRows) => progress.begin(place, native.modelTree(rows, paramsOf(request)));
    results.push(await oneModel(tree, { trees, request, start }, own));
    progress.end(place);
  };
  const used = ({ count }: { readonly count: number }) => Math.min(count, request.max_points_per_tree);
  const ordered = [...trees.trees].sort((a, b) => b.count - a.count);
  await progress.while(async () => {
    for (const tree of ordered.filter((one) => used(one) >= LARGE_TREE_POINTS)) await next(tree, job.quiet());
    const small = ordered.filter((one) => used(one) < LARGE_TREE_POINTS).values();
    let failure: { readonly error: unknown } | undefined;
    const lane = async () => {
      const own = job.quiet(1);
      for (const tree of small) {
        if (failure) return; // no lane outlives the run
        await next(tree, own).catch((error: unknown) => {
          failure ??= { error };
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(ordered.length, availableParallelism()) }, lane));
    if (failure) throw failure.error;
  });
  return results.sort((a, b) => a.tree_id - b.tree_id);
}

interface Build {
  readonly trees: BatchTrees;
  readonly request: TreeQsmRequest;
  readonly start: (rows: native.ModelRows) => ReturnType<typeof native.modelTree>;
}

async function oneModel(
  { id, first, count }: BatchTrees["trees"][number],
  { trees, request, start }: Build,
  own: Job,
): Promise<TreeAnswer> {
  const cut = trees.cut.get(id);
  const failed = (code: ErrorCode, error: string, points_used = 0): TreeAnswer => ({
    tree_id: id,
    success: false,
    error,
    code,
    points_in_tree: count,
    points_used,
    voxel_m: null,
    wood_only: trees.wood_only,
    n_cylinders: 0,
    n_shoots: 0,
    metrics: null,
    view_fit: null,
    enlarged_by: 1,
    base_gap_m: null,
    cut_width_m: cut?.width_m ?? 0,
    cut_top: cut?.top ?? false,
  });
  try {
    const found = await own.track(() => start({ ...trees.rows, first, count }));
    const { cylinders, shoots, ...counts } = await modelOf(found.qsm);
    if (!found.metrics) return failed("invalid_argument", noModel(found), found.points_used);
    const doubts = implausibleWarnings(count, found.metrics, {
      wood_measured: trees.wood_only && found.radii_known,
      unit_is_stated: trees.unit_is_stated,
    });
    const warnings = [...found.warnings, ...doubts];
    return {
      tree_id: id,
      success: true,
      error: null,
      points_in_tree: count,
      points_used: found.points_used,
      voxel_m: found.voxel_m,
      wood_only: trees.wood_only,
      ...counts,
      metrics: cut || trees.flat.has(id) ? withoutIntervals(found.metrics) : plausible(found.metrics, doubts),
      view_fit: found.view_fit,
      enlarged_by: found.enlarged_by,
      base_gap_m: found.base_gap_m,
      cut_width_m: cut?.width_m ?? 0,
      cut_top: cut?.top ?? false,
      ...(warnings.length > 0 ? { warnings } : {}),
      ...(request.include_models ? { cylinders, shoots } : {}),
    };
  } catch (raw) {
    const { code, message } = fromNative(raw);
    if (own.canceled || !FAILURES_OF_A_TREE.has(code)) throw raw; // a lack of memory is not the tree's fault
    const of = trees.wood_only ? " (of points with wood_class 1; wood_only false uses all)" : "";
    return failed(code, `${message}${of}`);
  }
}
