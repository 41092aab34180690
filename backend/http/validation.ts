import type { FastifyRequest } from "fastify";
import type { hasZodFastifySchemaValidationErrors } from "fastify-type-provider-zod";
import { BulkColumn } from "../../shared/contract/bulk-list.ts";

/** Status and body of an error response. */
export interface Problem {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type ZodRequestError = Parameters<typeof hasZodFastifySchemaValidationErrors>[0] & {
  validation?: readonly { keyword: string; instancePath: string; message?: string }[];
  validationContext?: string;
};

/**
 * One entry of the 422 body. `loc` starts with body, query, path or header; `input` is the rejected value, shortened.
 */
export interface ValidationIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

/** Without a limit, a body of 10 M invalid points would cause 10 M issues. */
const MAX_ISSUES = 50;
const MAX_INPUT_CHARS = 200;

const CONTEXT_NAMES: Readonly<Record<string, string>> = {
  querystring: "query",
  params: "path",
  body: "body",
  headers: "header",
};

/** The 422 response: `detail` lists the issues, `message` summarises them in one sentence for the user. */
export function validationProblem(error: unknown, request: FastifyRequest): Problem {
  const { validation = [], validationContext = "body" } = error as ZodRequestError;
  const root = rootOf(request, validationContext);
  const detail = validation.slice(0, MAX_ISSUES).map(({ keyword, instancePath, message }): ValidationIssue => {
    const path = pathOf(instancePath);
    const input = at(root, path);
    const missing = input === undefined;
    return {
      type: missing ? "missing" : keyword,
      loc: [CONTEXT_NAMES[validationContext] ?? validationContext, ...path],
      msg: missing ? "Field required" : (message ?? "Invalid value"),
      input: shortened(input),
    };
  });
  const named = detail.slice(0, 3).map(({ loc, msg }) => `${loc.slice(1).join(".") || loc[0]}: ${msg}`);
  const more = validation.length > 3 ? `; and ${validation.length - 3} more` : "";
  return { status: 422, body: { detail, message: `${named.join("; ")}${more}`, code: "validation" } };
}

function rootOf(request: FastifyRequest, context: string): unknown {
  if (context === "querystring") return request.query;
  return context === "params" ? request.params : context === "headers" ? request.headers : request.body;
}

/** "/a/0/b" -> ["a", 0, "b"]. Numeric object keys become numbers too; `at` finds them all the same. */
function pathOf(instancePath: string): (string | number)[] {
  const parts = instancePath.split("/").slice(1);
  return parts.filter((part) => part !== "").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

function at(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const key of path) {
    if (value instanceof BulkColumn && value.wrong?.index === key) {
      value = value.wrong.value;
      continue;
    }
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}

function shortened(input: unknown): unknown {
  if (typeof input === "string") return input.slice(0, MAX_INPUT_CHARS);
  if (Array.isArray(input) || input instanceof BulkColumn) return `list of ${input.length}`;
  if (typeof input === "object" && input !== null) return "object";
  return input ?? null;
}
