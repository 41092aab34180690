import { DetectStemsRequest } from "../../../shared/contract/cloud-session/detect-stems.ts";
import { strings } from "../strings.ts";
import { count, fileStem, measure } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.stems;

/** Finds stems in a layer above the ground. */
export const stems = cloudOperation({
  id: "stems",
  schema: DetectStemsRequest,
  words,
  run: async (request, { client, cloud, run }) => {
    const answer = await client.detectStems(cloud.session_id, request, run);
    const { seeds, layer_points, clusters, warnings } = answer;
    const diameters = seeds.map(({ radius_m }) => 2 * radius_m).sort((a, b) => a - b);
    const shift = cloud.world_shift ?? [0, 0, 0];
    const rows = seeds.map(({ x, y, z, radius_m, arc_coverage, n_inliers }) =>
      [x + shift[0], y + shift[1], z + shift[2], 2 * radius_m, arc_coverage, n_inliers].join(","),
    );
    return {
      facts: [
        [words.facts.stems, count(seeds.length)],
        [words.facts.median, measure(diameters[Math.floor(diameters.length / 2)], "m")],
        [words.facts.clusters, count(clusters)],
        [words.facts.points, count(layer_points)],
      ],
      warnings,
      file: {
        name: `${fileStem(cloud.name)}-stems.csv`,
        content: `x_m,y_m,z_m,diameter_m,arc_coverage,points\n${rows.join("\n")}\n`,
        type: "text/csv",
      },
    };
  },
});
