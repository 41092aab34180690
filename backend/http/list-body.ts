import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { type BulkKind, bulkKinds } from "../../shared/contract/bulk-list.ts";
import { LIST_BODY_BYTES_PER_BYTE, MAX_BODY_BYTES, MAX_BODY_DEPTH, MAX_LIST_BODY_BYTES } from "../../shared/limits.ts";
import type { Job } from "../jobs/job.ts";
import { type JsonDocument, type JsonShape, openRequestText } from "../native/core/request-text.ts";
import { ColumnRef } from "../sessions/column-ref.ts";
import { ListColumn } from "../sessions/list-column.ts";
import { tooLarge } from "./body-chunks.ts";
import type { BaseDeps } from "./types.ts";
import { unwrapped } from "./unwrapped.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Lists of the body in native memory, released with the response. */
    bodyLists: readonly ColumnRef[];
  }
}

/** What remains to be received of a body. */
export interface LargeBody {
  /** Size declared by the request, bytes; undefined if it is sent in chunks. */
  readonly declared: number | undefined;
  /** Chunks that have arrived. */
  readonly first: readonly Buffer[];
  readonly rest: AsyncIterable<Buffer>;
}

const shapes = new WeakMap<object, JsonShape>();

/**
 * Receives a JSON body above MAX_BODY_BYTES into native memory and parses it there: lists become ListColumns, the rest a
 * plain value. Nothing is received before admission has assigned the memory. Errors: 413, timeout, invalid_argument
 * (not JSON), canceled if the client disconnects.
 */
export async function receiveListBody(
  request: FastifyRequest,
  body: LargeBody,
  { jobs, admission }: Pick<BaseDeps, "jobs" | "admission">,
): Promise<unknown> {
  const bytes = body.declared ?? MAX_LIST_BODY_BYTES; // in chunks: it may be the largest
  const shape = shapeOf(request.routeOptions.schema?.body as object);
  const token = randomBytes(16).toString("hex");
  const label = `body of ${request.method} ${request.routeOptions.url ?? ""}`;
  let hangUp: () => void = () => undefined;
  const { socket } = request.raw;
  try {
    const document = await jobs.run(
      (job) =>
        admission.run(job, "Request", LIST_BODY_BYTES_PER_BYTE * bytes, () =>
          parseText(body, bytes, shape, token, job),
        ),
      {
        label,
        onStart: (job) => {
          hangUp = () => job.cancel();
          socket.once("close", hangUp);
        },
      },
    );
    if (document === "too large") throw tooLarge("the body", MAX_LIST_BODY_BYTES);
    if (document.too_large) throw tooLarge("the body without its lists of points and numbers", MAX_BODY_BYTES);
    return withLists(request, document, shape, token);
  } finally {
    socket.off("close", hangUp);
  }
}

async function parseText(
  { first, rest }: LargeBody,
  bytes: number,
  shape: JsonShape,
  token: string,
  job: Job,
): Promise<JsonDocument | "too large"> {
  const text = openRequestText(bytes);
  try {
    let length = 0;
    const append = (chunk: Buffer): boolean => {
      length += chunk.length;
      if (length <= bytes) text.append(chunk);
      return length <= bytes;
    };
    for (const chunk of first) append(chunk);
    for await (const chunk of rest) {
      job.checkpoint();
      if (!append(chunk)) return "too large";
    }
    return await job.track(() => text.parse(shape, token, { rest_bytes: MAX_BODY_BYTES, depth: MAX_BODY_DEPTH }));
  } finally {
    text.release();
  }
}

/** The shape of a schema: its bulk lists, and the objects that lead to them. */
function shapeOf(schema: object): JsonShape {
  const known = shapes.get(schema);
  if (known) return known;
  const shape = derivedShape(schema);
  shapes.set(schema, shape);
  return shape;
}

function derivedShape(schema: unknown): JsonShape {
  const inner = unwrapped(schema);
  const kind: BulkKind | undefined = inner instanceof z.ZodType ? bulkKinds.get(inner)?.kind : undefined;
  if (kind) return { kind };
  if (!(inner instanceof z.ZodObject)) return { kind: "value" };
  const fields = Object.entries(inner.shape).map(([name, field]) => [name, derivedShape(field)] as const);
  return { kind: "object", fields: Object.fromEntries(fields) };
}

/** The value of a document with its lists put back. */
function withLists(
  request: FastifyRequest,
  { rest, lists, blank }: JsonDocument,
  shape: JsonShape,
  token: string,
): unknown {
  const refs = lists.map(({ column }) => column && new ColumnRef(column));
  request.bodyLists = refs.filter((ref) => ref !== null);
  if (blank) return undefined;
  const put = (value: unknown, at: JsonShape): unknown => {
    if (at.kind === "value") return value;
    if (at.kind === "object") {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const record = value as Record<string, unknown>;
      for (const [name, field] of Object.entries(at.fields)) {
        if (Object.hasOwn(record, name)) record[name] = put(record[name], field);
      }
      return record;
    }
    if (typeof value !== "string" || !value.startsWith(token)) return value;
    const index = Number(value.slice(token.length));
    return new ListColumn(at.kind, lists[index]?.length ?? 0, refs[index] ?? null);
  };
  return put(JSON.parse(rest), shape);
}
