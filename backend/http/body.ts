import multipart from "@fastify/multipart";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { MAX_FRAME_BODY_BYTES, MAX_JSON_BODY_BYTES, MAX_UPLOAD_BYTES, MIB } from "../../shared/limits.ts";
import type { App } from "./types.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Top-level keys of the JSON body that its schema does not know: ignored, and named in the answer's `warnings`. */
    unknownKeys: readonly string[];
  }
}

/**
 * JSON bodies (an empty one is no body: cancel sends none under any content type), PHB1 bodies as bytes, and multipart
 * forms as streams: a route reads the file with `request.file()` and must check `file.truncated`.
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
    request.unknownKeys = unknownKeys(request.routeOptions.schema?.body, request.body);
  });
}

/** Keys of `body` that the object schema does not list; empty for anything that is no object. */
export function unknownKeys(schema: unknown, body: unknown): string[] {
  if (typeof body !== "object" || body === null || Array.isArray(body) || body instanceof Uint8Array) return [];
  let inner: unknown = schema;
  while (inner instanceof z.ZodPipe) inner = inner.in; // a transform's input side
  if (!(inner instanceof z.ZodObject)) return [];
  const known = inner.shape;
  return Object.keys(body).filter((key) => !Object.hasOwn(known, key));
}
