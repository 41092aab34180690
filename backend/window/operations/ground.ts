import { SessionGroundRequest } from "../../../shared/contract/cloud-session/segment-ground.ts";
import { strings } from "../strings.ts";
import { count, duration, measure } from "../workflow/format.ts";
import { showColumn } from "./column.ts";
import { acknowledged, cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.ground;

/** Labels ground and plants. */
export const ground = cloudOperation({
  id: "ground",
  schema: SessionGroundRequest,
  words,
  run: async (request, { client, cloud, run, confirmCost, ...context }) => {
    const answer = await acknowledged(
      (cost) => client.segmentGroundSession(cloud.session_id, { ...request, ...cost }, run),
      confirmCost,
    );
    if (!answer) return null;
    await showColumn(answer, "ground_class", cloud, context);
    return {
      facts: [
        [words.facts.ground, count(answer.num_ground)],
        [words.facts.plant, count(answer.num_plant)],
        [words.facts.method, answer.method],
        [words.facts.threshold, measure(answer.class_threshold_used, "m", 3)],
        [words.facts.took, duration(answer.elapsed_s)],
      ],
      warnings: answer.warnings,
    };
  },
});
