import { HealthResponse, RootResponse, VersionResponse } from "../../shared/contract/health.ts";
import type { App, BaseDeps } from "../http/types.ts";
import { health } from "../services/run/health.ts";

export function healthRoutes(app: App, deps: BaseDeps): void {
  const { version } = deps;
  app.get(
    "/",
    {
      schema: {
        operationId: "root",
        tags: ["service"],
        summary: "Return a greeting and the version",
        response: { 200: RootResponse },
      },
    },
    async () => ({
      message: "API is running",
      version,
    }),
  );
  app.get(
    "/version",
    {
      schema: {
        operationId: "version",
        tags: ["service"],
        summary: "Return the version, for a supervisor to compare",
        response: { 200: VersionResponse },
      },
    },
    async () => ({
      version,
    }),
  );
  app.get(
    "/health",
    {
      schema: {
        operationId: "health",
        tags: ["service"],
        summary: "Report that the service is alive, and its memory use",
        response: { 200: HealthResponse },
      },
    },
    async () => health(deps),
  );
}
