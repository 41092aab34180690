import { BackfillMissesRequest } from "../../../shared/contract/cloud-session/backfill-misses.ts";
import { AppError } from "../../../shared/errors.ts";
import { strings } from "../strings.ts";
import { count } from "../workflow/format.ts";
import { cloudOperation } from "./operation.ts";
import { ScannerPosition, scannerOf } from "./scanner-position.ts";

const words = strings.workflow.operations.misses;

const RASTER = { n_theta: true, n_phi: true, theta_min: true, theta_max: true } as const;
const MissesForm = BackfillMissesRequest.pick(RASTER).extend(ScannerPosition.shape);

/** Recovers the pulses that returned nothing, which the leaf area density needs. */
export const misses = cloudOperation({
  id: "misses",
  schema: MissesForm,
  words,
  run: async ({ n_theta, n_phi, theta_min, theta_max, ...position }, { client, cloud, run }) => {
    const at = scannerOf(position, cloud);
    const shift = cloud.world_shift ?? [0, 0, 0];
    const origin = at.map((value, axis) => value - (shift[axis] ?? 0));
    const request = { origin, n_theta, n_phi, theta_min, theta_max };
    const answer = await client.backfillMisses(cloud.session_id, request, run);
    if (answer.error !== undefined) throw new AppError(answer.code ?? "internal", answer.error);
    return {
      facts: [[words.facts.misses, answer.already_had_misses ? words.alreadyThere : count(answer.backfilled)]],
      warnings: answer.warnings ?? [],
    };
  },
});
