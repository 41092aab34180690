import type { FastifyContextConfig, FastifySchema } from "fastify";
import type { z } from "zod";
import { FailureTail } from "../../../shared/contract/problem.ts";
import { AppError } from "../../../shared/errors.ts";
import { OPEN_PATHS } from "../guard.ts";
import type { DocumentedRoute } from "./documented-route.ts";
import { DOCUMENT_HEAD, RUN_ID_HEADER, STREAMS } from "./head.ts";
import { problemAnswers } from "./problems.ts";
import { allComponents, componentRef, type Io, inlineSchema, type Json, settleComponents } from "./schemas.ts";

/**
 * OpenAPI 3.1 document of the routes. Errors: internal for a route without operationId, summary or tags, and for a body
 * or response schema without an id.
 */
export function openApiDocument(routes: readonly DocumentedRoute[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    const operations = route.methods.map((method) => [method.toLowerCase(), operation(route)]);
    paths[path] = { ...paths[path], ...Object.fromEntries(operations) };
  }
  const { info, ...head } = DOCUMENT_HEAD;
  return settleComponents({ openapi: "3.1.0", info: { ...info, version }, ...head, paths }, allComponents());
}

function operation(route: DocumentedRoute): Json {
  const { schema = {}, config, url } = route;
  const { operationId, summary, tags, params, querystring, body } = schema as FastifySchema & Zods;
  if (!operationId || !summary || !tags) throw new AppError("internal", `${url} lacks operationId, summary or tags`);
  const upload = config.upload;
  const parameters = [...fieldsOf(params, "path"), ...fieldsOf(querystring, "query")];
  return {
    operationId,
    summary,
    tags,
    ...(OPEN_PATHS.has(url) ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { ...content("application/json", body, "input"), ...(config.lists === true ? FRAME : {}) },
          },
        }
      : {}),
    ...(config.rawBody === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              "application/octet-stream": {
                schema: { type: "string", format: "binary", description: config.rawBody },
              },
            },
          },
        }),
    ...(upload ? { requestBody: { required: true, content: content("multipart/form-data", upload, "input") } } : {}),
    responses: { ...success(schema as Zods, config), ...config.responses, ...problemAnswers(route) },
  };
}

interface Zods {
  readonly params?: z.ZodType;
  readonly querystring?: z.ZodType;
  readonly body?: z.ZodType;
  readonly response?: { readonly 200?: z.ZodType };
}

const FRAME: Json = {
  "application/octet-stream": {
    schema: {
      type: "string",
      format: "binary",
      description:
        "PHB1 frame: meta.request has the fields of the JSON body except its lists, buffers (f32 or u32) named like the lists replace them; points are relative to meta.origin (three numbers, metres, default 0)",
    },
  },
};

const content = (type: string, schema: z.ZodType, io: Io): Json => ({ [type]: { schema: componentRef(schema, io) } });

function fieldsOf(schema: z.ZodType | undefined, where: "path" | "query"): Json[] {
  if (!schema) return [];
  const { properties = {} } = inlineSchema(schema, "input") as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...field }]) => ({
    name,
    in: where,
    required: where === "path",
    description,
    schema: field,
  }));
}

function success({ response }: Zods, { tail, frame, points, answer: result, events }: FastifyContextConfig): Json {
  const octets = (schema: z.ZodType) => content("application/octet-stream", schema, "output");
  if (tail) {
    const either = { schema: { anyOf: [componentRef(tail, "output"), componentRef(FailureTail, "output")] } };
    const answer = { "application/octet-stream": either, "application/json": either };
    return { 200: { description: STREAMS.tail, headers: { "x-run-id": RUN_ID_HEADER }, content: answer } };
  }
  if (result) {
    const types = { ...content("application/json", result, "output"), ...(frame ? octets(frame) : {}) };
    return {
      200: {
        description: frame ? STREAMS.either : STREAMS.answer,
        headers: { "x-run-id": RUN_ID_HEADER },
        content: types,
      },
    };
  }
  if (events) return { 200: { description: STREAMS.events, content: content("text/event-stream", events, "output") } };
  if (frame) return { 200: { description: STREAMS.frame, content: octets(frame) } };
  if (points) return { 200: { description: STREAMS.points, content: octets(points) } };
  const answer = response?.[200];
  return answer ? { 200: { description: "success", content: content("application/json", answer, "output") } } : {};
}
