import { Readable } from "node:stream";
import type { FastifyReply, RouteGenericInterface } from "fastify";
import { jsonStream } from "./json-stream.ts";

/** Streams a JSON response that contains long lists, without building one large string. Typed arrays become lists. */
export function sendJson(reply: unknown, answer: object): FastifyReply<RouteGenericInterface> {
  const plain = reply as FastifyReply;
  return plain.type("application/json; charset=utf-8").send(Readable.from(jsonStream(answer)));
}
