import { SessionWoodRequest } from "../../../shared/contract/cloud-session/segment-wood.ts";
import { strings } from "../strings.ts";
import { count, duration } from "../workflow/format.ts";
import { showColumn } from "./column.ts";
import { acknowledged, cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.wood;

/** Tells wood from leaves. */
export const wood = cloudOperation({
  id: "wood",
  schema: SessionWoodRequest,
  words,
  choices: async (client) => {
    const { models } = await client.listMlModels("wood_leaf");
    return { model_id: models.map(({ id, name }) => [id, name] as const) };
  },
  run: async (request, { client, cloud, run, confirmCost, ...context }) => {
    const model_id = request.method === "ml" ? (request.model_id ?? null) : null;
    const answer = await acknowledged(
      (cost) => client.segmentWoodSession(cloud.session_id, { ...request, model_id, ...cost }, run),
      confirmCost,
    );
    if (!answer) return null;
    await showColumn(answer, "wood_class", cloud, context);
    return {
      facts: [
        [words.facts.wood, count(answer.num_wood)],
        [words.facts.leaf, count(answer.num_leaf)],
        [words.facts.took, duration(answer.elapsed_s)],
      ],
      warnings: answer.warnings,
    };
  },
});
