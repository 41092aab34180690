import type { Readable } from "node:stream";
import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import {
  MAX_BODY_BYTES,
  MAX_FRAME_BODY_BYTES,
  MAX_LIST_BODY_BYTES,
  MAX_UPLOAD_BYTES,
  MIB,
} from "../../shared/limits.ts";
import { bodyChunks, declaredBytes, tooLarge } from "./body-chunks.ts";
import { receiveFrameBody } from "./frame-body.ts";
import { receiveListBody } from "./list-body.ts";
import type { App, BaseDeps } from "./types.ts";
import { unknownKeys } from "./unknown-keys.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Keys of the query and JSON body that the schema does not define. They are ignored and listed in `warnings`. */
    unknownKeys: readonly string[];
  }
}

/**
 * Parses JSON bodies, up to MAX_BODY_BYTES here, larger ones of routes with `lists` in list-body.ts, reads PHB1 bodies of
 * these routes in frame-body.ts, passes the bytes of routes with `rawBody` on as they arrive, and offers multipart forms as streams: a route reads the file with
 * backend/http/upload.ts. An empty JSON body counts as no body, because cancel requests are sent without one under any
 * content type.
 */
export async function installBodyParsers(app: App, deps: BaseDeps): Promise<void> {
  app.removeAllContentTypeParsers();
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.addContentTypeParser("application/json", async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.config.rawBody !== undefined) throw wrongType();
    const lists = request.routeOptions.config.lists !== undefined;
    const limit = lists ? MAX_LIST_BODY_BYTES : MAX_BODY_BYTES;
    const declared = declaredBytes(request.headers);
    if (declared !== undefined && declared > limit) throw tooLarge(`the body of ${declared} bytes`, limit);
    const rest = bodyChunks(payload, deps.config.bodyStallS);
    const first: Buffer[] = [];
    let length = declared ?? 0;
    for (let at = 0; length <= MAX_BODY_BYTES; ) {
      const { done, value } = await rest.next();
      if (done) return parsed(request, Buffer.concat(first, at).toString(), parseJson);
      first.push(value);
      at += value.length;
      length = Math.max(length, at);
    }
    if (!lists) throw tooLarge("the body", limit);
    return receiveListBody(request, { declared, first, rest }, deps);
  });
  app.addContentTypeParser("application/octet-stream", async (request: FastifyRequest, payload: Readable) => {
    if (request.routeOptions.config.rawBody !== undefined) return rawBody(request, payload, deps.config.bodyStallS);
    if (request.routeOptions.config.lists !== true) {
      throw wrongType();
    }
    const declared = declaredBytes(request.headers);
    if (declared !== undefined && declared > MAX_FRAME_BODY_BYTES)
      throw tooLarge(`the body of ${declared} bytes`, MAX_FRAME_BODY_BYTES);
    return receiveFrameBody(request, { declared, first: [], rest: bodyChunks(payload, deps.config.bodyStallS) }, deps);
  });
  await app.register(multipart, {
    limits: { fileSize: MAX_UPLOAD_BYTES, files: 1, fields: 32, fieldSize: MIB, parts: 40, headerPairs: 64 },
  });
  app.decorateRequest("unknownKeys");
  app.decorateRequest("bodyLists");
  app.addHook("preValidation", async (request, reply) => {
    releaseWithResponse(request, reply);
    const { body, querystring } = request.routeOptions.schema ?? {};
    request.unknownKeys = [...unknownKeys(querystring, request.query), ...unknownKeys(body, request.body)];
  });
}

const wrongType = () =>
  Object.assign(new Error("another type of body"), { code: "FST_ERR_CTP_INVALID_MEDIA_TYPE", statusCode: 415 });

/** The chunks of a body as they arrive. Errors: 413, also later for a body that is sent in chunks; timeout. */
function rawBody(request: FastifyRequest, payload: Readable, stallS: number): AsyncIterable<Buffer> {
  const declared = declaredBytes(request.headers);
  if (declared !== undefined && declared > MAX_UPLOAD_BYTES)
    throw tooLarge(`the body of ${declared} bytes`, MAX_UPLOAD_BYTES);
  return limited(bodyChunks(payload, stallS));
}

async function* limited(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MAX_UPLOAD_BYTES) throw tooLarge("the body", MAX_UPLOAD_BYTES);
    yield chunk;
  }
}

/** Releases the lists of the body when the response has been sent, or the client has disconnected. */
function releaseWithResponse(request: FastifyRequest, reply: FastifyReply): void {
  const lists = request.bodyLists ?? [];
  if (lists.length === 0) return;
  const release = () => {
    for (const list of lists) list.release();
  };
  if (reply.raw.closed) release();
  else reply.raw.once("close", release);
}

type ParseJson = ReturnType<App["getDefaultJsonParser"]>;

function parsed(request: FastifyRequest, text: string, parseJson: ParseJson): Promise<unknown> {
  if (text.trim() === "") return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    void parseJson(request, text, (error, body) => (error ? reject(error) : resolve(body)));
  });
}
