import { HealthResponse, RootResponse, VersionResponse } from "../../shared/contract/health.ts";
import type { App, BaseDeps } from "../http/types.ts";
import { memoryBudget } from "../jobs/admission.ts";
import { memoryStatus } from "../native/platform.ts";

const SERVICE = "point-cloud-backend";

export function healthRoutes(app: App, { config, admission, version }: BaseDeps): void {
  app.get("/", { schema: { summary: "Say hello", response: { 200: RootResponse } } }, async () => ({
    message: "API is running",
    version,
  }));
  app.get(
    "/version",
    { schema: { summary: "Version for the supervisor", response: { 200: VersionResponse } } },
    async () => ({
      version,
    }),
  );
  app.get("/health", { schema: { summary: "Liveness and memory", response: { 200: HealthResponse } } }, async () => {
    const { measured, ...memory } = memoryStatus();
    const settings = { pinned_bytes: config.memoryBudgetBytes, fraction: config.memoryBudgetFraction };
    const budget = memoryBudget(settings, { measured, ...memory });
    const admitted_operations = admission.operations();
    return {
      status: "healthy" as const,
      service: SERVICE,
      version,
      memory: { ...memory, ...budget, measured },
      admitted: admitted_operations.length,
      admitted_operations,
    };
  });
}
