import { Readable } from "node:stream";
import type { FastifyReply, RouteGenericInterface } from "fastify";
import { jsonChunks } from "./json-stream.ts";

/** Sends an answer with a long list in it piece by piece: typed arrays are written as lists, nothing becomes one string. */
export function sendJson(reply: unknown, answer: object): FastifyReply<RouteGenericInterface> {
  const plain = reply as FastifyReply;
  return plain.type("application/json; charset=utf-8").send(Readable.from(jsonChunks(answer)));
}
