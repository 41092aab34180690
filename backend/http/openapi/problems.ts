import type { FastifyContextConfig, FastifyRequest } from "fastify";
import { validatorCompiler } from "fastify-type-provider-zod";
import { z } from "zod";
import { CostRefusal } from "../../../shared/contract/cost-warning.ts";
import { Problem as ProblemBody } from "../../../shared/contract/problem.ts";
import { AppError } from "../../../shared/errors.ts";
import { DEFAULT_BODY_STALL_S, MAX_BODY_BYTES, MAX_LIST_BODY_BYTES, MAX_UPLOAD_BYTES } from "../../../shared/limits.ts";
import { stalledBody, tooLarge } from "../body-chunks.ts";
import { toProblem } from "../errors.ts";
import { OPEN_PATHS } from "../guard.ts";
import type { ProblemExample } from "../problems.ts";
import type { Problem } from "../validation.ts";
import type { DocumentedRoute } from "./documented-route.ts";
import { STATUS_TEXT } from "./head.ts";
import { componentRef, type Json } from "./schemas.ts";

/** All error responses of a route by status, each with its examples. */
export function problemAnswers({ methods, url, schema, config }: DocumentedRoute): Json {
  const isPlainRun = methods.includes("POST") && !(config.frame && !config.answer) && url !== "/api/cancel/:run_id";
  const { body, querystring } = (schema ?? {}) as { body?: z.ZodType; querystring?: z.ZodType };
  const own = (config.problems ?? []).map((example) => problemOf(example, config.tool));
  const found: Problem[] = [
    ...own,
    ...(body ? bodyProblems(config) : []),
    ...(isPlainRun ? [problemOf({ code: "canceled", detail: "canceled" }, config.tool)] : []),
    ...(config.upload ? bodyProblems(config).filter(({ status }) => status === 408 || status === 413) : []),
    ...[body && validationExample(body, "body"), querystring && validationExample(querystring, "querystring")],
    ...guardProblems(OPEN_PATHS.has(url)),
    problemOf({ code: "internal", detail: "an error that nobody foresaw" }),
  ].filter((problem) => problem !== undefined);
  const byStatus = new Map<number, Problem[]>();
  for (const problem of found) byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem]);
  return Object.fromEntries([...byStatus].map(([status, list]) => [String(status), answerOf(status, list)]));
}

function answerOf(status: number, list: readonly Problem[]): Json {
  const refusal = list.some(({ body }) => typeof body.detail === "object" && !Array.isArray(body.detail));
  const schema = componentRef(ProblemBody, "output");
  const examples = Object.fromEntries(
    list.map(({ body }, i) => [i === 0 ? String(body.code) : `${String(body.code)}_${i + 1}`, { value: body }]),
  );
  const shown = refusal ? { anyOf: [componentRef(CostRefusal, "output"), schema] } : schema;
  return {
    description: STATUS_TEXT[status] ?? "refused",
    content: { "application/json": { schema: shown, examples } },
  };
}

/** Status and body of an example, formatted by the code that formats real errors. `tool`: from the route's config. */
function problemOf({ code, detail }: ProblemExample, tool?: string): Problem {
  const error =
    typeof detail === "string" ? new AppError(code, detail) : new AppError(code, String(detail.message), { detail });
  return toProblem(error, asked(undefined, tool));
}

/** Errors for a missing token (unless the route is `open`) and for a page of a foreign origin. */
function guardProblems(open: boolean): Problem[] {
  const foreign = "pages of https://example.org may not use this service; APP_ALLOWED_ORIGINS adds origins";
  const token = "this service needs its access token (Authorization: Bearer ...)";
  return [
    ...(open ? [] : [problemOf({ code: "unauthorized", detail: token })]),
    problemOf({ code: "forbidden", detail: foreign }),
  ];
}

/** Errors for a body that is invalid JSON, stalls, is too large, or has an unsupported type. */
function bodyProblems({ lists, upload, rawBody }: FastifyContextConfig): Problem[] {
  const limit = upload || rawBody !== undefined ? MAX_UPLOAD_BYTES : lists ? MAX_LIST_BODY_BYTES : MAX_BODY_BYTES;
  const framework = (statusCode: number, message: string) =>
    toProblem(Object.assign(new Error(message), { code: "FST_ERR", statusCode }), asked("text/plain"));
  const json = framework(400, "Body is not valid JSON but content-type is set to 'application/json'");
  return [
    ...(rawBody === undefined ? [json] : []),
    problemOf({ code: "timeout", detail: stalledBody(DEFAULT_BODY_STALL_S).message }),
    framework(413, tooLarge(`the body of ${2 * limit} bytes`, limit).message),
    framework(415, "unsupported"),
  ];
}

/** A 422 for a body or query: a required field is missing or, if none is required, a field has the wrong type. */
function validationExample(schema: z.ZodType, context: "body" | "querystring"): Problem | undefined {
  const check = validatorCompiler({ schema, method: "POST", url: "" });
  const keys = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  for (const value of [{}, ...keys.map((key) => ({ [key]: ["?"] }))]) {
    const { error: validation } = check(value) as { error?: unknown };
    if (!validation) continue;
    const request = { ...asked(undefined), body: value, query: value } as FastifyRequest;
    return toProblem(Object.assign(new Error("validation"), { validation, validationContext: context }), request);
  }
  return undefined;
}

const asked = (contentType: string | undefined, tool?: string) =>
  ({
    headers: { "content-type": contentType },
    routeOptions: { config: tool === undefined ? {} : { tool } },
  }) as unknown as FastifyRequest;
