import type {
  SessionTreesRequest,
  SessionTreesResponse,
} from "../../../shared/contract/cloud-session/segment-trees.ts";
import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import type { TreesRequest, TreesResponse } from "../../../shared/contract/segment-trees.ts";
import type { AppError } from "../../../shared/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import { flatTreesBytes } from "../../native/flat-trees.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { unclassifiedWarnings } from "../classify/ground-gaps.ts";
import { publishLabels } from "../classify/label-column.ts";
import { noiseTakesPart, noiseWarnings } from "../classify/noise-rows.ts";
import { structureWarnings } from "../classify/structure-rows.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { asRefusal } from "../run/cost-warning.ts";
import { copyOut } from "../run/points.ts";
import { loneTopBytes } from "./lone-tops.ts";
import type { CheckedTrees } from "./tree-filter.ts";
import { inlineInput, sessionInput, sourceInput, type TreeInput } from "./tree-input.ts";
import { planTrees, TREES_TOOL, type TreesPlan } from "./tree-plan.ts";
import { labelTrees } from "./tree-run.ts";

const NOISE_EFFECT = ["belongs to no tree", "belong to no tree"] as const;
const TREES = { slug: "tree_instance", label: "Tree instance" } as const;

/** Labels a flat cloud. A failure after the checks is reported in `error` of the answer. */
export async function treesFlat(
  request: TreesRequest,
  filter: CheckedTrees,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<TreesResponse> {
  try {
    if (session) {
      return await session.read(job, async (state) => {
        const hits = await surviving(state, job);
        return label(await sourceInput(state, hits, request, job), await noiseTakesPart(state, hits, job));
      });
    }
    return await label(inlineInput(request, job));
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    const { code, message } = fromNative(raw);
    return notRun(filter, { error: message, code });
  }
  async function label(given: TreeInput, noise: readonly string[] = []): Promise<TreesResponse> {
    const plan = await planTrees(given, { filter, tiling: null, acknowledged: request.acknowledge_cost }, deps, job);
    const { cost_warning } = plan;
    if (cost_warning && !request.acknowledge_cost) return notRun(filter, { error: null, cost_warning });
    return deps.admission.run(job, TREES_TOOL, bytesOf(plan) + 12 * given.hit_count, async () => {
      const { labels, report } = await labelTrees(plan, job);
      const values = await hitLabels(labels, plan.input, job);
      job.checkpoint();
      const num_points = values.length;
      const warnings = [...noise, ...report.warnings];
      return { success: true, labels: values, num_points, ...report, warnings, cost_warning: null, error: null };
    });
  }
}

/** Of a segmentation, or of looking for flat trees and lone returns afterwards. */
const bytesOf = ({ bytes, input }: TreesPlan): number =>
  Math.max(bytes, flatTreesBytes(input.vegetation_count), loneTopBytes(input));

/** The labels of the hits only, in row order. */
async function hitLabels(labels: ColumnRef, { skip }: TreeInput, job: Job): Promise<Uint32Array> {
  const [hits] = skip ? await job.track(() => compactColumns([labels.native], skip)) : [];
  const column = hits ? job.adopt(new ColumnRef(hits)) : labels;
  const values = new Uint32Array(column.length);
  await copyOut(column.native, new Uint8Array(values.buffer));
  return values;
}

interface WhyNot {
  readonly error: string | null;
  readonly code?: AppError["code"];
  readonly cost_warning?: CostWarning;
}

const notRun = ({ method }: CheckedTrees, why: WhyNot): TreesResponse => ({
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
  ...why,
});

/**
 * Labels the trees of a session in the column tree_instance; misses, deleted rows and ground are 0. Works on a snapshot;
 * if an edit lands meanwhile, the run fails.
 * Errors: conflict with a cost warning before trees are looked for, unless the cost is acknowledged.
 */
export function segmentTreesSession(
  session: CloudSession,
  request: SessionTreesRequest,
  filter: CheckedTrees,
  deps: Deps,
  job: Job,
): Promise<SessionTreesResponse> {
  return session.read(job, async (base) => {
    const { mask, input, noise_count, structure_count } = await sessionInput(base, request, job);
    const wish = { filter, tiling: request, acknowledged: request.acknowledge_cost };
    const plan = await planTrees(input, wish, deps, job);
    if (plan.cost_warning && !request.acknowledge_cost) throw asRefusal(plan.cost_warning);
    const octree = request.defer_octree ? 0 : octreeCost(base, mask);
    return deps.admission.run(job, TREES_TOOL, Math.max(bytesOf(plan), octree), async () => {
      const { labels, report, tiling } = await labelTrees(plan, job);
      const answer = { session_id: session.id, analyzed_points: plan.input.vegetation_count, ...report, tiling };
      const unclassified = await unclassifiedWarnings(input.ground, input.skip, "They are taken for plants.", job);
      const published = await publishLabels(session, base, { ...TREES, labels }, { ...request, mask }, deps, job);
      const warnings = [
        ...noiseWarnings(noise_count, NOISE_EFFECT),
        ...structureWarnings(structure_count),
        ...unclassified,
        ...answer.warnings,
        ...published.warnings,
      ];
      return { ...answer, ...published, warnings };
    });
  });
}
