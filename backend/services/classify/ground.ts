import type {
  SessionGroundRequest,
  SessionGroundResponse,
} from "../../../shared/contract/cloud-session/segment-ground.ts";
import type { GroundReport, GroundRequest, GroundResponse } from "../../../shared/contract/segment-ground.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_GROUND_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/classify/ground.ts";
import { compactColumns } from "../../native/cloud/edit.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import type { CloudSession } from "../../sessions/cloud-session.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import { positionsColumn } from "../octree/columns.ts";
import { surviving } from "../octree/misses.ts";
import { octreeCost } from "../octree/publish.ts";
import { askAboutCost, type CostEstimate } from "../run/cost-warning.ts";
import { opDevice } from "../run/device.ts";
import { copyOut, pointsColumn, sourceSession, sourceTranslation } from "../run/points.ts";
import { gatheredBytes, groundCost, measuringBytes, octreeSeconds } from "./ground-cost.ts";
import {
  type CheckedGround,
  type ClothPlan,
  checkCloth,
  clothPlan,
  FINEST_RESOLUTION,
  type GroundMeasured,
  leavesOpen,
} from "./ground-filter.ts";
import { formerHeights } from "./ground-gaps.ts";
import { groundNoiseEffect, noiseIsNoGround } from "./ground-noise.ts";
import { type ComparedGround, type FoundGround, failedGround, groundReport } from "./ground-report.ts";
import { publishLabels } from "./label-column.ts";
import { boundsOf, noiseTakesPart, noiseWarnings, withoutNoise } from "./noise-rows.ts";

const GROUND = { slug: "ground_class", label: "Ground Class" } as const;
/** Also the `tool` of the endpoint. */
export const GROUND_TOOL = "Ground segmentation";

/** Points to label: the rows that `skip` does not mark. */
interface GroundInput {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
}

/** A run that is ready to begin: its parameters, the measured cloud and the cost. */
interface GroundPlan {
  readonly filter: CheckedGround;
  readonly measured: GroundMeasured;
  readonly cloth: ClothPlan | null;
  readonly cost: CostEstimate;
}

const tooFew = (points: number) =>
  new AppError(
    "invalid_argument",
    `Need at least ${MIN_GROUND_POINTS} points for ground segmentation, but there are ${points}`,
  );

/** Errors: invalid_argument for too few points and for a cloth that is too fine. */
async function planGround(input: GroundInput, filter: CheckedGround, deps: Deps, job: Job): Promise<GroundPlan> {
  const { positions, skip, hit_count } = input;
  if (hit_count < MIN_GROUND_POINTS) throw tooFew(hit_count);
  const gathered = gatheredBytes(positions.length, hit_count);
  const found = await job.track(() => native.groundExtent(positions, skip));
  if (found.finite_count < MIN_GROUND_POINTS) throw tooFew(found.finite_count);
  if (filter.method === "cloth") checkCloth(filter.wish, found);
  const measures = leavesOpen(filter)
    ? await deps.admission.run(job, GROUND_TOOL, gathered + measuringBytes(hit_count), () =>
        job.track(() => native.groundMeasures(positions, skip)),
      )
    : null;
  const measured = { ...found, measures };
  const cloth = filter.method === "cloth" ? clothPlan(filter.wish, measured, deps.config) : null;
  const cost = groundCost(filter, cloth, measured);
  return { filter, measured, cloth, cost: { ...cost, bytes: cost.bytes + gathered } };
}

interface GroundOutcome {
  /** A label for every row, 0 where `skip` is set. */
  readonly labels: ColumnRef;
  readonly report: GroundReport;
}

/** The run owns the column. */
async function labelGround(input: GroundInput, plan: GroundPlan, deps: Deps, job: Job): Promise<GroundOutcome> {
  const start = performance.now();
  const ground = await runFilter(input, plan, deps, job);
  const labels = job.adopt(new ColumnRef(ground.found.ground_class));
  const compared = ground.method === "cloth" ? await compareWithAuto(input, labels, plan.filter.frame, job) : null;
  const elapsed_s = (performance.now() - start) / 1000;
  return { labels, report: groundReport(ground, compared, plan.measured, input.hit_count, elapsed_s) };
}

async function runFilter(
  { positions, skip }: GroundInput,
  { filter, cloth }: GroundPlan,
  deps: Deps,
  job: Job,
): Promise<FoundGround> {
  if (cloth) {
    const device = await opDevice(deps);
    const found = await job.track(() => native.clothSimulation(positions, skip, cloth.params, device, filter.frame));
    return { method: "cloth", found, plan: cloth };
  }
  if (filter.method === "smrf") {
    const { params } = filter;
    return {
      method: "smrf",
      found: await job.track(() => native.smrf(positions, skip, params, undefined, filter.frame)),
      params,
    };
  }
  const { frame, method } = filter;
  method satisfies "auto" | "cloth"; // a cloth has a plan
  return {
    method: "auto",
    found: await job.track(() => native.groundAuto(positions, skip, undefined, undefined, frame)),
  };
}

/** How many labels differ from those of the filter without parameters. */
async function compareWithAuto(
  { positions, skip }: GroundInput,
  labels: ColumnRef,
  frame: native.GroundFrame | null,
  job: Job,
): Promise<ComparedGround> {
  try {
    const found = await job.track(() => native.groundAuto(positions, skip, undefined, undefined, frame));
    const auto = job.adopt(new ColumnRef(found.ground_class));
    return { differing: await job.track(() => native.labelDifferences(labels.native, auto.native)) };
  } catch (raw) {
    const error = fromNative(raw);
    if (job.canceled || error.code !== "invalid_argument") throw raw;
    return { failed: error.message };
  }
}

/** Checks a flat request before it runs. Errors: invalid_argument, not_found. */
export async function checkGroundSource(request: GroundRequest, deps: Deps): Promise<CloudSession | null> {
  if (request.source) {
    sourceTranslation(request.source);
    return sourceSession(request.source, deps);
  }
  if (!request.points) throw new AppError("invalid_argument", "Send `points` or a `source` descriptor.");
  return null;
}

/**
 * Labels a flat cloud. A failure after the checks is reported in `error` of the answer, except for a cloth that is too
 * fine: 400. Labels do not depend on the frame, so the points of a source stay in the stored frame.
 */
export async function groundFlat(
  request: GroundRequest,
  filter: CheckedGround,
  session: CloudSession | null,
  deps: Deps,
  job: Job,
): Promise<GroundResponse> {
  try {
    if (session) {
      return await session.read(job, async (state) => {
        const hits = await surviving(state, job);
        return label({ positions: positionsColumn(state), ...hits }, await noiseTakesPart(state, hits, job));
      });
    }
    const positions = job.adopt(pointsColumn(request.points ?? [])).native;
    return await label({ positions, skip: null, hit_count: positions.length });
  } catch (raw) {
    job.checkpoint(); // a cancel is no result
    const error = fromNative(raw);
    if (error.details && FINEST_RESOLUTION in error.details) throw error;
    return failedGround(error, filter);
  }
  async function label(input: GroundInput, noise: readonly string[] = []): Promise<GroundResponse> {
    const plan = await planGround(input, filter, deps, job);
    return deps.admission.run(job, GROUND_TOOL, plan.cost.bytes + 3 * input.hit_count, async () => {
      const { labels, report } = await labelGround(input, plan, deps, job);
      const values = await hitLabels(labels, input, job);
      job.checkpoint();
      const warnings = [...noise, ...report.warnings];
      return { success: true, labels: values, num_points: values.length, ...report, warnings, error: null };
    });
  }
}

/** The labels of the hits only, in row order. */
async function hitLabels(labels: ColumnRef, { skip }: GroundInput, job: Job): Promise<Uint8Array> {
  const [hits] = skip ? await job.track(() => compactColumns([labels.native], skip)) : [];
  const column = hits ? job.adopt(new ColumnRef(hits)) : labels;
  const values = new Uint8Array(column.length);
  await copyOut(column.native, values);
  return values;
}

/**
 * Labels the surviving hits of a session in the column ground_class; misses and deleted rows are 0. Works on a
 * snapshot; if an edit lands meanwhile, the run fails.
 * Errors: conflict with a cost warning before anything is computed, unless the cost is acknowledged.
 */
export function segmentGroundSession(
  session: CloudSession,
  request: SessionGroundRequest,
  filter: CheckedGround,
  deps: Deps,
  job: Job,
): Promise<SessionGroundResponse> {
  return session.read(job, async (base) => {
    const mask = await surviving(base, job);
    const clean = request.skip_noise ? await withoutNoise(base, mask, job) : mask;
    const noise_count = mask.hit_count - clean.hit_count;
    const input = { positions: positionsColumn(base), ...clean };
    const plan = await planGround(input, filter, deps, job);
    const octree = request.defer_octree
      ? { seconds: 0, bytes: 0 }
      : { seconds: octreeSeconds(mask.hit_count), bytes: octreeCost(base, mask) };
    const seconds = plan.cost.seconds + octree.seconds;
    const bytes = Math.max(plan.cost.bytes, octree.bytes);
    askAboutCost(GROUND_TOOL, { seconds, bytes }, request.acknowledge_cost, deps);
    return deps.admission.run(job, GROUND_TOOL, bytes, async () => {
      const found = await labelGround(input, plan, deps, job);
      const labels = await noiseIsNoGround(found.labels, { hits: mask.skip, clean: clean.skip }, job);
      const { report } = found;
      const kept_bounds = await boundsOf(input.positions, clean, job); // a run that ends here has changed nothing
      const published = await publishLabels(session, base, { ...GROUND, labels }, { ...request, mask }, deps, job);
      const left_out = noiseWarnings(noise_count, groundNoiseEffect(noise_count, mask.hit_count));
      return {
        session_id: session.id,
        analyzed_points: mask.hit_count,
        noise_count,
        kept_bounds,
        ...report,
        num_plant: report.num_plant + noise_count,
        ...published,
        warnings: [...left_out, ...report.warnings, ...formerHeights(base), ...published.warnings],
      };
    });
  });
}
