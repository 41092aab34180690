import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { z } from "zod";
import type { App } from "./types.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** What a streamed run ends with; shown in the documentation, since a stream has no response schema. */
    tail?: z.ZodType;
    /** Name of a long computation that answers 499 when it was canceled. */
    tool?: string;
  }
}

interface Documented {
  readonly method: RouteOptions["method"];
  readonly url: string;
  readonly schema: RouteOptions["schema"];
  readonly tail: z.ZodType | undefined;
}

const HIDDEN = /^\/(docs|openapi\.json)/;

/**
 * /openapi.json (OpenAPI 3.1) and the page /docs, made from the routes' own schemas. The generator and the page are
 * loaded when they are first asked for, in an instance of their own that never listens: start-up pays nothing.
 * Call it before the routes are registered.
 */
export function installDocs(app: App, version: string): void {
  const routes: Documented[] = [];
  app.addHook("onRoute", ({ method, url, schema, config }) => {
    if (HIDDEN.test(url) || url === "*") return;
    routes.push({
      method: [method].flat().filter((name) => name !== "HEAD" && name !== "OPTIONS"),
      url,
      schema,
      tail: config?.tail,
    });
  });
  let made: Promise<Awaited<ReturnType<typeof makeDocs>>> | undefined;
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    made ??= makeDocs(routes, version);
    const docs = await made.catch((error: unknown) => {
      made = undefined; // the next request tries again
      throw error;
    });
    const answer = await docs.inject({ method: "GET", url: request.raw.url ?? "/docs" });
    const { "content-type": type = "application/octet-stream", location } = answer.headers;
    if (location !== undefined) reply.header("location", location);
    return reply.code(answer.statusCode).type(String(type)).send(answer.rawPayload);
  };
  const hide = { schema: { hide: true } };
  app.get("/openapi.json", hide, serve);
  app.get("/docs", hide, serve);
  app.get("/docs/*", hide, serve);
  app.addHook("onClose", async () => {
    await (await made?.catch(() => undefined))?.close();
  });
}

async function makeDocs(routes: readonly Documented[], version: string) {
  const [{ default: Fastify }, { default: swagger }, { default: swaggerUi }, zodProvider] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
    import("@fastify/swagger-ui"),
    import("fastify-type-provider-zod"),
  ]);
  const docs = Fastify({ logger: false });
  docs.setValidatorCompiler(zodProvider.validatorCompiler);
  docs.setSerializerCompiler(zodProvider.serializerCompiler);
  await docs.register(swagger, {
    openapi: {
      openapi: "3.1.0",
      info: { title: "Point cloud backend", version, description: "Local service for LiDAR point clouds and plants." },
    },
    transform: zodProvider.createJsonSchemaTransform({ zodToJsonConfig: { unrepresentable: "any" } }),
  });
  await docs.register(swaggerUi, { routePrefix: "/docs" });
  for (const { method, url, schema, tail } of routes) {
    const described = { ...schema, ...(tail ? { response: { 200: streamed(tail) } } : {}) };
    if ([method].flat().length > 0) docs.route({ method, url, schema: described, handler: async () => undefined });
  }
  docs.get("/openapi.json", { schema: { hide: true } }, async () => docs.swagger());
  await docs.ready();
  return docs;
}

/** The answer of a streamed run as the documentation shows it. */
function streamed(tail: z.ZodType) {
  const description = "PHP1 progress markers (the first carries run_id), then this JSON document";
  return { description, content: { "application/octet-stream": { schema: tail } } };
}
