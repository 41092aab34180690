import type { FastifyError, FastifyRequest } from "fastify";
import { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import type { AppError, ErrorCode } from "../../shared/errors.ts";
import { errorText, fromNative } from "../jobs/native-error.ts";
import { noteFailure } from "./logging.ts";
import type { App } from "./types.ts";
import { type Problem, validationProblem } from "./validation.ts";

/** The one table from error code to HTTP status. */
export const httpStatus: Readonly<Record<ErrorCode, number>> = {
  validation: 422,
  invalid_argument: 400,
  invalid_file: 400,
  not_found: 404,
  conflict: 409,
  canceled: 499,
  forbidden: 403,
  unauthorized: 401,
  timeout: 408,
  out_of_memory: 503,
  no_space: 507,
  io: 500,
  unsupported: 400,
  internal: 500,
};

/**
 * Converts any thrown value to an AppError. AppErrors pass through, native errors keep their code, and all others
 * become
 * `internal` with their own message.
 */
export function toAppError(error: unknown): AppError {
  return fromNative(error);
}

/**
 * Status and body of an error response. `detail` is normally a sentence. For 422 it is the list of issues and `message`
 * holds the sentence. A structured refusal supplies its own object in `details.detail`, with the sentence in `message`.
 */
export function toProblem(raw: unknown, request: FastifyRequest): Problem {
  if (hasZodFastifySchemaValidationErrors(raw)) return validationProblem(raw, request);
  const fastify = raw as Partial<FastifyError>;
  if (typeof fastify?.code === "string" && fastify.code.startsWith("FST_")) return frameworkProblem(fastify, request);
  const error = toAppError(raw);
  if (error.code === "canceled") {
    const { tool = "The run" } = request.routeOptions.config;
    return { status: httpStatus.canceled, body: { detail: `${tool} was canceled.`, code: error.code } };
  }
  return { status: httpStatus[error.code], body: { detail: error.message, code: error.code, ...error.details } };
}

/** Errors of the HTTP framework: invalid JSON, body too large, wrong media type. Its 4xx statuses are kept. */
function frameworkProblem(error: Partial<FastifyError>, request: FastifyRequest): Problem {
  const status = error.statusCode ?? 500;
  if (status === 413) {
    const detail = `${errorText(error)}; import the file into a session and send its id instead`;
    return { status, body: { detail, code: "invalid_argument" } };
  }
  if (status === 415) {
    const type = request.headers["content-type"] ?? "none";
    const detail = `content type ${type} is not taken here; send application/json`;
    return { status, body: { detail, code: "unsupported" } };
  }
  const code: ErrorCode = status < 500 ? "invalid_argument" : "internal";
  return { status, body: { detail: errorText(error), code } };
}

/** Formats the errors of all routes in one way and adds the error sentence to the request's log line. */
export function installErrorHandler(app: App): void {
  app.setErrorHandler((raw, request, reply) => {
    const { status, body } = toProblem(raw, request);
    noteFailure(request, typeof body.detail === "string" ? body.detail : body.message, status >= 500 ? raw : undefined);
    if (status === 408) reply.header("connection", "close"); // the rest of the body may still arrive
    return reply.code(status).type("application/json; charset=utf-8").serializer(JSON.stringify).send(body);
  });
}
