import type { z } from "zod";
import type { HealthResponse } from "../../../shared/contract/health.ts";
import type { Deps } from "../../deps.ts";
import { memoryBudget } from "../../jobs/admission.ts";
import { memoryStatus } from "../../native/core/platform.ts";

const SERVICE = "point-cloud-backend";

/** Liveness, the memory of machine and process, and the operations admitted at the moment. */
export function health({
  config,
  admission,
  jobs,
  version,
}: Pick<Deps, "config" | "admission" | "jobs" | "version">): z.infer<typeof HealthResponse> {
  const { measured, ...memory } = memoryStatus();
  const settings = { pinned_bytes: config.memoryBudgetBytes, fraction: config.memoryBudgetFraction };
  const admitted_operations = admission.operations();
  const waiting_runs = jobs.waiting();
  return {
    status: "healthy",
    service: SERVICE,
    version,
    memory: { ...memory, ...memoryBudget(settings, { measured, ...memory }), measured },
    admitted: admitted_operations.length,
    admitted_operations,
    waiting: waiting_runs.length,
    waiting_runs,
  };
}
