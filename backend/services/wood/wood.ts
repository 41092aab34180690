import type { SessionWoodRequest, SessionWoodResponse } from "../../../shared/contract/cloud-session/segment-wood.ts";
import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import type { ShapeMethod, WoodReport, WoodRequest, WoodResponse } from "../../../shared/contract/segment-wood.ts";
import { AppError } from "../../../shared/errors.ts";
import { MAX_WOOD_SHARE, MIN_WOOD_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import { woodLeaf, woodLeafCost } from "../../native/wood.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { publishLabels } from "../classify/label-column.ts";
import { octreeCost } from "../octree/publish.ts";
import { asRefusal, costWarning } from "../run/cost-warning.ts";
import { copyOut } from "../run/points.ts";
import { repeatedShare, repeatedWarning, sampledSpacing } from "../run/repeated-points.ts";
import { scanWarnings } from "./scan-warnings.ts";
import type { CheckedWood } from "./wood-filter.ts";
import {
  inlineWood,
  joinedWood,
  missingReflectance,
  sessionWood,
  unclassifiedGround,
  type WoodInput,
  type WoodSource,
} from "./wood-input.ts";
import { labelByNetwork, networkCost } from "./wood-network.ts";

/** Also the `tool` of the endpoints. */
export const WOOD_TOOL = "Wood segmentation";

const WOOD = { slug: "wood_class", label: "Wood Class" } as const;

/** A run that is ready to begin once its cost is acknowledged. */
interface WoodPlan {
  readonly input: WoodInput;
  readonly filter: CheckedWood;
  readonly most_points: number;
  readonly bytes: number;
  /** Null: nothing to ask. */
  readonly cost_warning: CostWarning | null;
}

const nativeParams = ({ method, params: { voxel_size, ...params } }: CheckedWood, most_points: number) => ({
  ...params,
  method: method as ShapeMethod,
  voxel_size_m: voxel_size,
  most_points,
});

/** Errors: invalid_argument for fewer than 3 points. */
function planWood(input: WoodInput, filter: CheckedWood, deps: Deps): WoodPlan {
  if (input.hit_count < MIN_WOOD_POINTS)
    throw new AppError("invalid_argument", `Need at least ${MIN_WOOD_POINTS} points`);
  const most_points = deps.config.woodMaxPoints;
  const cost = filter.ml
    ? networkCost(input, filter.ml)
    : geometricCost(input.hit_count, nativeParams(filter, most_points));
  const bytes = cost.bytes + 36 * input.hit_count + 6 * input.positions.length;
  const cost_warning = costWarning(WOOD_TOOL, { seconds: cost.seconds, bytes }, deps);
  return { input, filter, most_points, bytes, cost_warning };
}

/** Cost of a geometric method. No job tracks the call, so its failure is converted here. */
function geometricCost(...given: Parameters<typeof woodLeafCost>): ReturnType<typeof woodLeafCost> {
  try {
    return woodLeafCost(...given);
  } catch (raw) {
    throw fromNative(raw);
  }
}

/** Runs a plan: u8 per row, 0 where the row is no hit. The run owns the column. */
async function labelWood({ input, filter, most_points }: WoodPlan, job: Job) {
  const start = performance.now();
  if (filter.ml) {
    const { labels, report } = await labelByNetwork(input, filter.ml, job);
    const spacing = await sampledSpacing(input.positions, input.skip, job.quiet());
    const warnings = [
      ...filter.unused,
      ...input.noise,
      ...groundWarnings(input, filter),
      ...report.warnings,
      ...shareWarnings(report, filter),
      ...(await scanWarnings({ ...input, labels, spacing }, filter.method, job.quiet())),
    ];
    return { labels, report: { ...report, warnings, elapsed_s: (performance.now() - start) / 1000 } };
  }
  const { positions, skip, reflectance } = input;
  const found = await job.track(() => woodLeaf(positions, skip, reflectance, nativeParams(filter, most_points)));
  const labels = job.adopt(new ColumnRef(found.wood_class));
  const spacing = await sampledSpacing(positions, skip, job.quiet());
  const repeated = found.voxel_m > 0 ? 0 : repeatedShare(spacing); // points at one place are one voxel
  const report: WoodReport = {
    num_wood: found.num_wood,
    num_leaf: found.num_leaf,
    method: filter.method,
    model_id: null,
    params: filter.params,
    voxel_size: found.voxel_m > 0 ? found.voxel_m : null,
    reflectance_weight: found.reflectance_weight,
    reflectance_wood: found.promoted,
    segments: found.segments,
    cylinders: found.cylinders,
    non_finite: found.non_finite,
    warnings: [
      ...filter.unused,
      ...input.noise,
      ...groundWarnings(input, filter),
      ...voxelWarnings(found, filter, most_points),
      ...repeatedWarning(repeated, "shapes are measured at fewer places than asked for"),
      ...found.warnings,
      ...shareWarnings(found, filter),
      ...(await scanWarnings({ ...input, labels, spacing }, filter.method, job.quiet())),
    ],
    elapsed_s: (performance.now() - start) / 1000,
  };
  return { labels, report };
}

/** Methods with a skeleton take ground for the base of the plant. */
function groundWarnings({ ground_count }: WoodInput, { method }: CheckedWood): string[] {
  if (method === "geometric" || ground_count === 0) return [];
  return ground_count === null
    ? [
        `No ground labels came with the points: method ${method} takes ground for the base of the plant. Remove the ground first if there is any.`,
      ]
    : [
        `${ground_count} points are labelled as ground: method ${method} takes them for the base of the plant. Remove the ground first.`,
      ];
}

/** Shares of wood that only trees without leaves have, and none. */
function shareWarnings(
  { num_wood, num_leaf }: Pick<WoodReport, "num_wood" | "num_leaf">,
  { method }: CheckedWood,
): string[] {
  const share = num_wood / (num_wood + num_leaf);
  if (share > MAX_WOOD_SHARE)
    return [
      `${(100 * share).toFixed(0)} % of the points are wood. That is plausible only without leaves: look at the labels, and try another method than ${method} if there are leaves.`,
    ];
  if (num_wood > 0) return [];
  return [`No point is wood: look at the points, and try another method than ${method} if there are stems among them.`];
}

/** Voxels that were asked for or that the number of points asks for. */
function voxelWarnings(
  { voxel_m, used, num_wood, num_leaf }: { voxel_m: number; used: number; num_wood: number; num_leaf: number },
  { params: { voxel_size } }: CheckedWood,
  most_points: number,
): string[] {
  if (voxel_m === 0 || (voxel_size === 0 && num_wood + num_leaf <= most_points)) return [];
  return [
    `${used} voxels of ${voxel_m.toPrecision(3)} m were told apart; every point has the label of the nearest one.`,
  ];
}

/** Labels a flat cloud. A failure after the checks is reported in `error` of the answer. */
export async function woodFlat(
  request: WoodRequest,
  filter: CheckedWood,
  sources: readonly WoodSource[],
  deps: Deps,
  job: Job,
): Promise<WoodResponse> {
  try {
    const [only] = sources;
    if (!only) return await label(inlineWood(request, job));
    if (sources.length > 1) return await label(await joinedWood(sources, job));
    return await only.session.read(job, async (state) => label((await sessionWood(state, null, job)).input));
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    const { code, message } = fromNative(raw);
    return notRun(filter, { error: message, code });
  }
  async function label(input: WoodInput): Promise<WoodResponse> {
    const plan = planWood(input, filter, deps);
    const { cost_warning } = plan;
    if (cost_warning && !request.acknowledge_cost) return notRun(filter, { error: null, cost_warning });
    return deps.admission.run(job, WOOD_TOOL, plan.bytes, async () => {
      const { labels, report } = await labelWood(plan, job);
      const values = await hitLabels(labels, input, job);
      job.checkpoint();
      const { source_counts } = input;
      return {
        success: true,
        labels: values,
        num_points: values.length,
        ...report,
        source_counts: [...source_counts],
        cost_warning: null,
        error: null,
      };
    });
  }
}

/** The labels of the hits only, in row order. */
async function hitLabels(labels: ColumnRef, { skip }: WoodInput, job: Job): Promise<Uint8Array> {
  const [hits] = skip ? await job.track(() => compactColumns([labels.native], skip)) : [];
  const column = hits ? job.adopt(new ColumnRef(hits)) : labels;
  const values = new Uint8Array(column.length);
  await copyOut(column.native, values);
  return values;
}

interface WhyNot {
  readonly error: string | null;
  readonly code?: AppError["code"];
  readonly cost_warning?: CostWarning;
}

const notRun = ({ method, ml }: CheckedWood, why: WhyNot): WoodResponse => ({
  success: false,
  labels: [],
  num_points: 0,
  num_wood: 0,
  num_leaf: 0,
  method,
  model_id: ml?.model.model.id ?? null,
  params: {},
  voxel_size: null,
  reflectance_weight: 0,
  reflectance_wood: 0,
  segments: 0,
  cylinders: 0,
  non_finite: 0,
  source_counts: [],
  cost_warning: null,
  warnings: [],
  elapsed_s: 0,
  ...why,
});

/**
 * Labels wood and leaves of a session in the column wood_class; misses and deleted rows are 0. Works on a snapshot; if an
 * edit lands meanwhile, the run fails.
 * Errors: conflict with a cost warning before the run, unless the cost is acknowledged.
 */
export function segmentWoodSession(
  session: CloudSession,
  request: SessionWoodRequest,
  filter: CheckedWood,
  deps: Deps,
  job: Job,
): Promise<SessionWoodResponse> {
  return session.read(job, async (base) => {
    const { mask, input } = await sessionWood(base, request.scalar_slug ?? null, job, request.skip_ground);
    const unclassified = request.skip_ground ? await unclassifiedGround(base, mask.skip, job) : [];
    const missing = [...missingReflectance(base, request.scalar_slug ?? null), ...unclassified];
    const plan = planWood(input, filter, deps);
    if (plan.cost_warning && !request.acknowledge_cost) throw asRefusal(plan.cost_warning);
    const octree = request.defer_octree ? 0 : octreeCost(base, mask);
    return deps.admission.run(job, WOOD_TOOL, Math.max(plan.bytes, octree), async () => {
      const { labels, report } = await labelWood(plan, job);
      const answer = { session_id: session.id, analyzed_points: input.hit_count, ...report };
      const published = await publishLabels(session, base, { ...WOOD, labels }, { ...request, mask }, deps, job);
      return { ...answer, ...published, warnings: [...missing, ...answer.warnings, ...published.warnings] };
    });
  });
}
