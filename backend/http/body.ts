import multipart from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { MAX_FRAME_BODY_BYTES, MAX_JSON_BODY_BYTES, MAX_UPLOAD_BYTES, MIB } from "../../shared/limits.ts";
import type { App } from "./types.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Keys of the query and JSON body that the schema does not define. They are ignored and listed in `warnings`. */
    unknownKeys: readonly string[];
  }
}

/**
 * Parses JSON bodies, reads PHB1 bodies as bytes, and offers multipart forms as streams: a route reads the file with
 * `request.file()` and must check `file.truncated`. An empty JSON body counts as no body, because cancel requests are
 * sent without one under any content type.
 */
export async function installBodyParsers(app: App): Promise<void> {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser(
    "application/json",
    { parseAs: "string", bodyLimit: MAX_JSON_BODY_BYTES },
    (request: FastifyRequest, body: string, done) => {
      if (body.trim() === "") done(null, undefined);
      else void parseJson(request, body, done);
    },
  );
  app.addContentTypeParser(
    "application/octet-stream",
    { parseAs: "buffer", bodyLimit: MAX_FRAME_BODY_BYTES },
    (_request, body, done) => done(null, body),
  );
  await app.register(multipart, {
    limits: { fileSize: MAX_UPLOAD_BYTES, files: 1, fields: 32, fieldSize: MIB, parts: 40, headerPairs: 64 },
  });
  app.decorateRequest("unknownKeys");
  app.addHook("preValidation", async (request) => {
    const { body, querystring } = request.routeOptions.schema ?? {};
    request.unknownKeys = [...unknownKeys(querystring, request.query), ...unknownKeys(body, request.body)];
  });
}

/**
 * Paths of the keys in `value` that the object schema does not define, such as `scalar_filters[0].maximum`. Nested
 * objects and lists of objects are searched too. Empty when `value` is not an object.
 */
export function unknownKeys(schema: unknown, value: unknown, path = ""): string[] {
  const inner = unwrapped(schema);
  if (Array.isArray(value)) {
    if (!(inner instanceof z.ZodArray && unwrapped(inner.element) instanceof z.ZodObject)) return [];
    return value.flatMap((item, i) => unknownKeys(inner.element, item, `${path}[${i}]`));
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return [];
  if (!(inner instanceof z.ZodObject)) return [];
  const prefix = path === "" ? "" : `${path}.`;
  return Object.entries(value).flatMap(([key, item]) =>
    Object.hasOwn(inner.shape, key) ? unknownKeys(inner.shape[key], item, prefix + key) : [prefix + key],
  );
}

/** The input schema inside transforms, defaults, optional and nullable wrappers. */
function unwrapped(schema: unknown): unknown {
  let inner = schema;
  for (;;) {
    if (inner instanceof z.ZodPipe) inner = inner.in;
    else if (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable || inner instanceof z.ZodDefault)
      inner = inner.unwrap();
    else return inner;
  }
}
