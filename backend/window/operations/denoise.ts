import { SessionDenoiseRequest } from "../../../shared/contract/cloud-session/denoise.ts";
import { strings } from "../strings.ts";
import { count, duration, percent } from "../workflow/format.ts";
import { showColumn } from "./column.ts";
import { cloudOperation } from "./operation.ts";

const words = strings.workflow.operations.denoise;

/** Labels noise; nothing is deleted. */
export const denoise = cloudOperation({
  id: "denoise",
  schema: SessionDenoiseRequest,
  words,
  run: async (request, { client, cloud, run, ...context }) => {
    const answer = await client.denoiseSession(cloud.session_id, request, run);
    await showColumn(answer, "noise_class", cloud, context);
    return {
      facts: [
        [words.facts.noise, `${count(answer.flagged)} (${percent(answer.fraction)})`],
        [words.facts.kept, count(answer.kept)],
        [words.facts.took, duration(answer.elapsed_s)],
      ],
      warnings: answer.warnings,
    };
  },
});
