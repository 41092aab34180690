import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import { AppError } from "../../../shared/errors.ts";
import { GIB } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";

/** What a run is expected to take at most. */
export interface CostEstimate {
  readonly seconds: number;
  readonly bytes: number;
}

/** Null while the estimate stays below the guidelines: contract classification section 1.1. */
export function costWarning(
  tool: string,
  { seconds, bytes }: CostEstimate,
  { admission, config }: Pick<Deps, "admission" | "config">,
): CostWarning | null {
  const { budget_bytes, admitted_bytes } = admission.memory();
  const headroom_bytes = Math.max(0, budget_bytes - admitted_bytes);
  const over_time = seconds >= config.costWarningS;
  const over_memory = bytes > headroom_bytes;
  if (!over_time && !over_memory) return null;
  const parts = [
    over_time ? `may take up to ${durationText(seconds)}` : "",
    over_memory
      ? `needs about ${gibText(bytes)} of memory, ${gibText(headroom_bytes)} of ${gibText(budget_bytes)} are free for it`
      : "",
  ].filter((text) => text !== "");
  return {
    message: `${tool} ${parts.join(" and ")}. Send the request again with acknowledge_cost to run it.`,
    estimated_seconds: seconds,
    estimated_bytes: Math.ceil(bytes),
    budget_bytes,
    headroom_bytes,
    admitted_bytes,
    over_time,
    over_memory,
  };
}

/** Errors: conflict with the warning, unless the caller has seen it or there is none. */
export function askAboutCost(
  tool: string,
  estimate: CostEstimate,
  acknowledged: boolean,
  deps: Pick<Deps, "admission" | "config">,
): void {
  const cost_warning = acknowledged ? null : costWarning(tool, estimate, deps);
  if (!cost_warning) return;
  const { message } = cost_warning;
  throw new AppError("conflict", message, { detail: { cost_warning, message } });
}

const durationText = (seconds: number) =>
  seconds < 120 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`;

const gibText = (bytes: number) => `${(bytes / GIB).toFixed(bytes < GIB ? 3 : 1)} GiB`;
