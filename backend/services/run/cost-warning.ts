import type { CostWarning } from "../../../shared/contract/cost-warning.ts";
import { AppError } from "../../../shared/errors.ts";
import { GIB } from "../../../shared/limits.ts";
import type { Deps } from "../../deps.ts";

/** Upper bound of the time and memory of a run. */
export interface CostEstimate {
  readonly seconds: number;
  readonly bytes: number;
}

/** What only the warnings of some tools have. */
type More = Pick<CostWarning, "session_count" | "nodes" | "node_guideline" | "points" | "decimate_res1">;
type Costs = Omit<CostWarning, "message" | keyof More>;

function costs({ seconds, bytes }: CostEstimate, { admission, config }: Pick<Deps, "admission" | "config">): Costs {
  const { budget_bytes, admitted_bytes } = admission.memory();
  const headroom_bytes = Math.max(0, budget_bytes - admitted_bytes);
  return {
    estimated_seconds: seconds,
    estimated_bytes: Math.ceil(bytes),
    budget_bytes,
    headroom_bytes,
    admitted_bytes,
    over_time: seconds >= config.costWarningS,
    over_memory: bytes > headroom_bytes,
  };
}

/** The refusal of a run that is asked about whatever its time and memory. `what`: a sentence without its end. */
export function costRefusal(
  estimate: CostEstimate,
  what: string,
  more: More,
  deps: Pick<Deps, "admission" | "config">,
): AppError {
  return asRefusal(costWarningOf(estimate, what, more, deps));
}

/** A warning whatever time and memory. `what`: a sentence without its end. */
export const costWarningOf = (
  estimate: CostEstimate,
  what: string,
  more: More,
  deps: Pick<Deps, "admission" | "config">,
): CostWarning => ({
  message: `${what}. Send the request again with acknowledge_cost to run it.`,
  ...costs(estimate, deps),
  ...more,
});

/** The 409 of a warning. */
export function asRefusal(cost_warning: CostWarning): AppError {
  const { message } = cost_warning;
  return new AppError("conflict", message, { detail: { cost_warning, message } });
}

/** The warning for an estimate above the limits of contract classification section 1.1; null below. */
export function costWarning(
  tool: string,
  { seconds, bytes }: CostEstimate,
  deps: Pick<Deps, "admission" | "config">,
): CostWarning | null {
  const found = costs({ seconds, bytes }, deps);
  const { over_time, over_memory, headroom_bytes, budget_bytes } = found;
  if (!over_time && !over_memory) return null;
  const parts = [
    over_time ? `may take up to ${durationText(seconds)}` : "",
    over_memory
      ? `needs about ${gibText(bytes)} of memory, but only ${gibText(headroom_bytes)} of ${gibText(budget_bytes)} are free`
      : "",
  ].filter((text) => text !== "");
  return {
    message: `${tool} ${parts.join(" and ")}. Send the request again with acknowledge_cost to run it.`,
    ...found,
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
  if (cost_warning) throw asRefusal(cost_warning);
}

const durationText = (seconds: number) =>
  seconds < 120 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`;

const gibText = (bytes: number) => `${(bytes / GIB).toFixed(bytes < GIB ? 3 : 1)} GiB`;
