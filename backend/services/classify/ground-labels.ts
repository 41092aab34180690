import type { GroundReport } from "../../../shared/contract/segment-ground.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIN_GROUND_POINTS } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/classify/ground.ts";
import type { NativeColumn } from "../../native/core/handles.ts";
import { ColumnRef } from "../../sessions/column-ref.ts";
import type { ScanColumn } from "../octree/scan-column.ts";
import type { CostEstimate } from "../run/cost-warning.ts";
import { opDevice } from "../run/device.ts";
import { contradictionWarnings, type FileClasses, fileGroundWarnings, groundOfFile } from "./file-ground.ts";
import { gatheredBytes, groundCost, measuringBytes } from "./ground-cost.ts";
import {
  type CheckedGround,
  type ClothPlan,
  checkCloth,
  clothPlan,
  type GroundMeasured,
  leavesOpen,
} from "./ground-filter.ts";
import { groundLayersOf } from "./ground-layers.ts";
import { noiseIsNoGround } from "./ground-noise.ts";
import { type ComparedGround, type FoundGround, groundReport } from "./ground-report.ts";
import { groundResidualOf } from "./ground-residual.ts";
import { imagesOf } from "./mirror-images.ts";
import { upAxisOf } from "./up-axis.ts";

/** Also the `tool` of the endpoint. */
export const GROUND_TOOL = "Ground segmentation";

/** Points to label: the rows that `skip` does not mark. */
export interface GroundInput {
  readonly positions: NativeColumn;
  readonly skip: NativeColumn | null;
  readonly hit_count: number;
  readonly scans: ScanColumn | null;
  /** Null: the points have none. */
  readonly classes: FileClasses | null;
}

/** A run that is ready to begin: its parameters, the measured cloud and the cost. */
export interface GroundPlan {
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
export async function planGround(input: GroundInput, filter: CheckedGround, deps: Deps, job: Job): Promise<GroundPlan> {
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
  return {
    filter,
    measured,
    cloth,
    cost: { ...cost, bytes: Math.max(cost.bytes, native.groundLayersBytes(hit_count)) + gathered },
  };
}

interface GroundOutcome {
  /** A label for every row, 0 where `skip` is set. */
  readonly labels: ColumnRef;
  readonly report: GroundReport;
}

/** The run owns the column. */
export async function labelGround(whole: GroundInput, plan: GroundPlan, deps: Deps, job: Job): Promise<GroundOutcome> {
  const start = performance.now();
  const images = await imagesOf(whole, plan.filter, job);
  const input = { ...whole, skip: images.skip };
  const layers = await groundLayersOf(input, job);
  const ground = await runFilter(input, plan, deps, job);
  const found = job.adopt(new ColumnRef(ground.found.ground_class));
  const is_compared = ground.method === "cloth" || ground.method === "las_classification";
  const compared = is_compared ? await compareWithAuto(input, found, plan.filter.frame, job) : null;
  const labels = await noiseIsNoGround(found, { hits: whole.skip, clean: images.skip }, job);
  const onFile =
    ground.method === "las_classification"
      ? await fileGroundWarnings(labels.native, input.classes, ground.ground_classes, job)
      : await contradictionWarnings(labels.native, input.classes, job);
  const onAxis = await upAxisOf(input, job);
  const residual_m = await groundResidualOf(input.positions, labels.native, job);
  const elapsed_s = (performance.now() - start) / 1000;
  const report = groundReport(
    ground,
    compared,
    plan.measured,
    { images, layers, residual_m },
    whole.hit_count,
    elapsed_s,
  );
  return { labels, report: { ...report, warnings: [...onAxis, ...report.warnings, ...onFile] } };
}

async function runFilter(
  { positions, skip, classes }: GroundInput,
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
  if (filter.method === "las_classification") {
    const { method, ground_classes } = filter;
    const found = await groundOfFile({ positions, skip }, classes, ground_classes, job);
    return { method, found, ground_classes };
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
