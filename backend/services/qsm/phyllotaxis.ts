import type { PhyllotaxisRequest, PhyllotaxisResponse } from "../../../shared/contract/qsm-phyllotaxis.ts";
import type { Job } from "../../jobs/job.ts";
import { fromNative } from "../../jobs/native-error.ts";
import * as native from "../../native/leaves.ts";
import { heldModel } from "./held-model.ts";

/** Angles at least this likely, relative to the best, are named in a warning: exp(-3) = 1 in 20. */
const CLOSE_LOG_SUPPORT = 3;

const NOTHING = {
  angle_deg: 137.5,
  pattern: "spiral",
  leaves_per_node: 1,
  confidence: 0,
  n_parents_sampled: 0,
  candidates: [],
} as const;

function patternOf(angle_deg: number): PhyllotaxisResponse["pattern"] {
  if (angle_deg === 180) return "opposite";
  if (angle_deg === 90) return "decussate";
  return [137.5, 144, 150].includes(angle_deg) ? "spiral" : "alternate";
}

/** The divergence angle of a model. A model whose parts do not fit together is reported in `error`. */
export async function phyllotaxisOf(request: PhyllotaxisRequest, job: Job): Promise<PhyllotaxisResponse> {
  try {
    const model = await heldModel(request, job);
    const found = await job.track(() => native.phyllotaxis(model));
    const pattern = patternOf(found.angle_deg);
    const warnings = warningsOf(found);
    return {
      success: true,
      angle_deg: found.angle_deg,
      pattern,
      leaves_per_node: pattern === "opposite" || pattern === "decussate" ? 2 : 1,
      confidence: found.confidence,
      n_parents_sampled: found.parent_count,
      candidates: [...found.candidates],
      ...(warnings.length > 0 ? { warnings } : {}),
      error: null,
    };
  } catch (raw) {
    if (job.canceled) throw raw;
    const { code, message } = fromNative(raw);
    return { success: false, ...NOTHING, candidates: [], error: message, code };
  }
}

function warningsOf({ angle_deg, parent_count, candidates }: native.Phyllotaxis): string[] {
  if (parent_count === 0) {
    return [
      "No shoot has two child shoots whose azimuth is known: nothing was measured, and 137.5 is the most common angle.",
    ];
  }
  const own = candidates.find((one) => one.angle_deg === angle_deg)?.log_support ?? 0;
  const close = candidates.filter((one) => one.angle_deg !== angle_deg && one.log_support > own - CLOSE_LOG_SUPPORT);
  if (close.length === 0) return [];
  const names = close.map((one) => `${one.angle_deg}`).join(", ");
  return [`The branches do not rule out other angles: ${names} degrees.`];
}
