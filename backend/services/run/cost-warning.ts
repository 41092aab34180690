import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import { AppError } from "../../../shared/errors.ts";
import { GIB } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";

/** Upper bound of the time and memory of a run. */
export interface CostEstimate {
  readonly seconds: number;
  readonly bytes: number;
}

/** The warning for an estimate above the limits of contract classification section 1.1; null below. */
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
      ? `needs about ${gibText(bytes)} of memory, but only ${gibText(headroom_bytes)} of ${gibText(budget_bytes)} are free`
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

/** Errors: conflict with the cost warning, if there is one and the caller has not acknowledged it. */
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
