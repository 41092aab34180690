import type { WoodReport } from "../../../shared/contract/segment-wood.ts";
import { WOOD_NETWORK_SECONDS_PER_POINT, WOOD_NETWORK_START_S } from "../../../shared/limits.ts";
import type { Job } from "../../jobs/job.ts";
import { classCounts } from "../../native/cloud/edit.ts";
import { type MlPlan, mlLabels, mlLabelsBytes } from "./ml-labels.ts";
import type { WoodInput } from "./wood-input.ts";

const [WOOD, LEAF] = [1, 2];

/** Duration and memory of method ml. */
export const networkCost = ({ hit_count }: WoodInput, plan: MlPlan) => ({
  seconds: WOOD_NETWORK_START_S + WOOD_NETWORK_SECONDS_PER_POINT * hit_count,
  bytes: mlLabelsBytes(hit_count, plan),
});

/** Runs method ml: u8 per row, 0 where the row is no hit. The run owns the column. */
export async function labelByNetwork(input: WoodInput, plan: MlPlan, job: Job) {
  const { labels, non_finite, voxel_m, warnings } = await mlLabels(input, plan, job);
  const { values, counts } = await job.track(() => classCounts(labels.native, input.skip));
  const countOf = (value: number) => counts[values.indexOf(value)] ?? 0;
  const report: Omit<WoodReport, "elapsed_s"> = {
    num_wood: countOf(WOOD),
    num_leaf: countOf(LEAF),
    method: "ml",
    model_id: plan.model.model.id,
    params: {},
    voxel_size: voxel_m,
    reflectance_weight: 0,
    reflectance_wood: 0,
    segments: 0,
    cylinders: 0,
    non_finite,
    warnings: [...warnings],
  };
  return { labels, report };
}
