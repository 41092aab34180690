import { DEFAULT_STAND_SETTINGS, treeCsv } from "../../../shared/client/index.ts";
import { TreeInventoryRequest } from "../../../shared/contract/cloud-session/tree-inventory.ts";
import { AppError } from "../../../shared/errors.ts";
import { strings } from "../strings.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.inventory;

/** Measures every tree; the list is in the details. */
export const inventory = cloudOperation({
  id: "inventory",
  schema: TreeInventoryRequest,
  words,
  run: async (request, { client, cloud, clouds, run, scene }) => {
    const answer = await client.treeInventory(cloud.session_id, request, run);
    if (!answer.success) {
      throw new AppError(answer.code ?? "internal", answer.error ?? [words.none, ...answer.warnings].join(" "));
    }
    const { trees, stand, skipped, warnings, tree_version } = answer;
    const origin = { session_id: cloud.session_id, ...(tree_version === undefined ? {} : { tree_version }) };
    await clouds.learn();
    scene.trees.set({ ...origin, trees, stand });
    const table = treeCsv({ scan_name: cloud.name, trees, settings: DEFAULT_STAND_SETTINGS });
    return {
      facts: [
        [words.facts.trees, count(trees.length)],
        [words.facts.skipped, count(skipped.length)],
        [words.facts.area, measure(stand?.plot_area_m2, "m²", 1)],
        [words.facts.cover, measure(stand?.crown_union_area_m2, "m²", 1)],
      ],
      warnings: [...warnings, ...skipped.map(({ tree_id, reason }) => words.skippedTree(tree_id, reason))],
      file: {
        name: `${fileStem(cloud.name)}-trees.csv`,
        content: [...table].join(""),
        type: "text/csv",
        trees: origin,
      },
    };
  },
});
