import type {
  SessionTreesRequest,
  SessionTreesResponse,
} from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { TreesReport, TreesRequest, TreesResponse } from "../../../shared/contract/segment-trees.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_TREE_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import * as native from "../../native/trees.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { publishLabels } from "../classify/label-column.ts";
import { octreeCost } from "../octree/publish.ts";
import { copyOut } from "../run/points.ts";
import { type CheckedTrees, type ChmPlan, chmPlan } from "./tree-filter.ts";
import { inlineInput, type SortedTreeInput, sessionInput, sorted, sourceInput, type TreeInput } from "./tree-input.ts";
import { chmReport } from "./tree-report.ts";

const TREES = { slug: "tree_instance", label: "Tree instance" } as const;
/** Also the `tool` of the endpoint. */
export const TREES_TOOL = "Tree segmentation";

/** A run that is ready to begin. */
interface TreesPlan {
  readonly filter: CheckedTrees;
  readonly input: SortedTreeInput;
  readonly chm: ChmPlan;
  readonly bytes: number;
}

/** Errors: invalid_argument for too few or too many points and for a canopy height model that is too large. */
async function planTrees(given: TreeInput, filter: CheckedTrees, deps: Deps, job: Job): Promise<TreesPlan> {
  const input = await sorted(given, job);
  const { vegetation_count, extent } = input;
  const { treeMaxPoints } = deps.config;
  if (vegetation_count < MIN_TREE_POINTS) {
    throw new AppError(
      "invalid_argument",
      `Need at least ${MIN_TREE_POINTS} points that are not ground for tree segmentation, but there are ${vegetation_count}`,
    );
  }
  if (vegetation_count > treeMaxPoints) {
    throw new AppError(
      "invalid_argument",
      `Tree segmentation takes at most ${treeMaxPoints} points that are not ground, but there are ${vegetation_count}: thin the cloud, segment parts of it, or set APP_TREE_MAX_POINTS`,
    );
  }
  const chm = chmPlan(filter, vegetation_count, extent);
  const rows = given.positions.length;
  return { filter, input, chm, bytes: chm.bytes + 56 * given.hit_count + 2 * rows };
}

interface TreesOutcome {
  /** u32 per row. */
  readonly labels: ColumnRef;
  readonly report: TreesReport;
}

/** The run owns the column. */
async function labelTrees({ filter, input, chm }: TreesPlan, job: Job): Promise<TreesOutcome> {
  const start = performance.now();
  const { positions, not_vegetation, not_ground, seeds } = input;
  const found = await job.track(() => native.canopyCrowns(positions, not_vegetation, not_ground, seeds, chm.params));
  const labels = job.adopt(new ColumnRef(found.tree_instance));
  const elapsed_s = (performance.now() - start) / 1000;
  return { labels, report: chmReport(filter, chm, found, input, elapsed_s) };
}

/** Labels a flat cloud. A failure after the checks is reported in `error` of the answer. */
export async function treesFlat(
  request: TreesRequest,
  filter: CheckedTrees,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<TreesResponse> {
  try {
    if (session) return await session.read(job, async (state) => label(await sourceInput(state, request, job)));
    return await label(inlineInput(request, job));
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    return failedFlat(fromNative(raw), filter);
  }
  async function label(given: TreeInput): Promise<TreesResponse> {
    const plan = await planTrees(given, filter, deps, job);
    return deps.admission.run(job, TREES_TOOL, plan.bytes + 12 * given.hit_count, async () => {
      const { labels, report } = await labelTrees(plan, job);
      const values = await hitLabels(labels, plan.input, job);
      job.checkpoint();
      const num_points = values.length;
      return { success: true, labels: values, num_points, ...report, cost_warning: null, error: null };
    });
  }
}

/** The labels of the hits only, in row order. */
async function hitLabels(labels: ColumnRef, { skip }: TreeInput, job: Job): Promise<Uint32Array> {
  const [hits] = skip ? await job.track(() => compactColumns([labels.native], skip)) : [];
  const column = hits ? job.adopt(new ColumnRef(hits)) : labels;
  const values = new Uint32Array(column.length);
  await copyOut(column.native, new Uint8Array(values.buffer));
  return values;
}

const failedFlat = ({ code, message }: AppError, { method }: CheckedTrees): TreesResponse => ({
  success: false,
  labels: [],
  num_points: 0,
  num_trees: 0,
  method,
  ground_warning: false,
  fusion_warning: null,
  cost_warning: null,
  chm: null,
  params: {},
  non_finite: 0,
  warnings: [],
  elapsed_s: 0,
  error: message,
  code,
});

/**
 * Labels the trees of a session in the column tree_instance; misses, deleted rows and ground are 0. Works on a snapshot;
 * if an edit lands meanwhile, the run fails.
 */
export function segmentTreesSession(
  session: CloudSession,
  request: SessionTreesRequest,
  filter: CheckedTrees,
  deps: Deps,
  job: Job,
): Promise<SessionTreesResponse> {
  return session.read(job, async (base) => {
    const { mask, input } = await sessionInput(base, request.seed_points, job);
    const plan = await planTrees(input, filter, deps, job);
    const octree = request.defer_octree ? 0 : octreeCost(base, mask);
    return deps.admission.run(job, TREES_TOOL, Math.max(plan.bytes, octree), async () => {
      const { labels, report } = await labelTrees(plan, job);
      const answer = { session_id: session.id, analyzed_points: plan.input.vegetation_count, ...report };
      const published = await publishLabels(session, base, { ...TREES, labels }, { ...request, mask }, deps, job);
      return { ...answer, ...published, warnings: [...answer.warnings, ...published.warnings] };
    });
  });
}
