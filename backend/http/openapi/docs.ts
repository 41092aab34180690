import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../types.ts";
import type { DocumentedRoute } from "./documented-route.ts";

const HIDDEN = /^\/(docs|openapi\.json)/;

/**
 * Serves /openapi.json (OpenAPI 3.1) and the page /docs, both generated from the schemas of the routes. To keep
 * start-up fast, the generator and the page are loaded on the first request, in a separate Fastify instance that never
 * listens. Call this before registering the routes.
 */
export function installDocs(app: App, version: string): void {
  const routes: DocumentedRoute[] = [];
  app.addHook("onRoute", ({ method, url, schema, config = {} }) => {
    if (HIDDEN.test(url) || url === "*" || schema?.hide) return;
    const methods = [method].flat().filter((name) => name !== "HEAD" && name !== "OPTIONS");
    if (methods.length > 0) routes.push({ methods, url, schema, config });
  });
  let made: Promise<Awaited<ReturnType<typeof makeDocs>>> | undefined;
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    made ??= makeDocs(routes, version);
    const docs = await made.catch((error: unknown) => {
      made = undefined; // the next request tries again
      throw error;
    });
    const answer = await docs.inject({ method: "GET", url: request.raw.url ?? "/docs" });
    if (answer.statusCode === 404) return reply.callNotFound();
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

async function makeDocs(routes: readonly DocumentedRoute[], version: string) {
  const [{ default: Fastify }, { default: swagger }, { default: swaggerUi }, { openApiDocument }] = await Promise.all([
    import("fastify"),
    import("@fastify/swagger"),
    import("@fastify/swagger-ui"),
    import("./document.ts"),
  ]);
  const document = openApiDocument(routes, version);
  const docs = Fastify({ logger: false });
  await docs.register(swagger, { mode: "static", specification: { document: document as never } });
  await docs.register(swaggerUi, { routePrefix: "/docs" });
  docs.get("/openapi.json", { schema: { hide: true } }, async () => document);
  await docs.ready();
  return docs;
}
