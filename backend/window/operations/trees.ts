import { SessionTreesRequest } from "../../../shared/contract/cloud-session/segment-trees.ts";
import { strings } from "../strings.ts";
import { count, duration } from "../workflow/format.ts";
import { showColumn } from "./column.ts";
import { acknowledged, cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.trees;

/** Labels the trees. */
export const trees = cloudOperation({
  id: "trees",
  schema: SessionTreesRequest,
  words,
  run: async (request, { client, cloud, run, confirmCost, ...context }) => {
    const answer = await acknowledged(
      (cost) => client.segmentTreesSession(cloud.session_id, { ...request, ...cost }, run),
      confirmCost,
    );
    if (!answer) return null;
    await showColumn(answer, "tree_instance", cloud, context);
    return {
      facts: [
        [words.facts.trees, count(answer.num_trees)],
        [words.facts.points, count(answer.analyzed_points)],
        [words.facts.took, duration(answer.elapsed_s)],
      ],
      warnings: [
        ...answer.warnings,
        ...(answer.fusion_warning && !answer.warnings.includes(answer.fusion_warning) ? [answer.fusion_warning] : []),
      ],
    };
  },
});
