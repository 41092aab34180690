import Fastify, { LogController } from "fastify";
import { serializerCompiler, validatorCompiler, type ZodTypeProvider } from "fastify-type-provider-zod";
import { KIB, MAX_BODY_BYTES } from "../shared/limits.ts";
import { installBodyParsers } from "./http/body.ts";
import { installErrorHandler } from "./http/errors.ts";
import { installGuard } from "./http/guard.ts";
import { installRequestLog } from "./http/logging.ts";
import { installNotFound } from "./http/not-found.ts";
import { installDocs } from "./http/openapi/docs.ts";
import type { App, BaseDeps, RouteFile } from "./http/types.ts";
import { cancelRoutes } from "./routes/cancel.ts";
import { deviceInfoRoutes } from "./routes/device-info.ts";
import { healthRoutes } from "./routes/health.ts";
import { octreeRoutes } from "./routes/octree.ts";

/** The routes that need only BaseDeps. */
export const BASE_ROUTES: readonly RouteFile[] = [healthRoutes, deviceInfoRoutes, cancelRoutes, octreeRoutes];

/**
 * Builds the service as a Fastify instance that does not listen yet. `routes` are registered in order, after the guard.
 * Closing it first cancels every run, then drops every connection.
 */
export async function buildApp<D extends BaseDeps>(
  deps: D,
  routes: readonly RouteFile<D>[] = BASE_ROUTES,
): Promise<App> {
  const app: App = Fastify({
    loggerInstance: deps.logger,
    logController: new LogController({ disableRequestLogging: true }), // http/logging.ts logs requests
    forceCloseConnections: true,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 256 },
    http: { maxHeaderSize: 16 * KIB },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  installErrorHandler(app);
  installRequestLog(app);
  await installBodyParsers(app, deps);
  installNotFound(app);
  await installGuard(app, deps.config);
  installDocs(app, deps.version);
  app.addHook("preClose", async () => deps.jobs.shutdown());
  for (const register of routes) register(app, deps);
  return app;
}
