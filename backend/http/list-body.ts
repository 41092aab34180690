import { randomBytes } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { LIST_BODY_BYTES_PER_BYTE, MAX_BODY_BYTES, MAX_BODY_DEPTH, MAX_LIST_BODY_BYTES } from "../../shared/limits.ts";
import type { NativeColumn } from "../native/core/handles.ts";
import type { JsonDocument, JsonShape, ParsedList } from "../native/core/request-text.ts";
import { ColumnRef } from "../sessions/column-ref.ts";
import { type HeldList, ListColumn } from "../sessions/list-column.ts";
import { tooLarge } from "./body-chunks.ts";
import { shapeOf } from "./list-shape.ts";
import { type IncomingBody, receiveBody } from "./receive-body.ts";
import type { BaseDeps } from "./types.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Lists of the body in native memory, released with the response. */
    bodyLists: readonly ColumnRef[];
  }
}

/**
 * Receives a JSON body above MAX_BODY_BYTES and reads it in native code: lists become ListColumns, the rest a plain
 * value. Errors: those of receiveBody, 413 for a rest above MAX_BODY_BYTES, invalid_argument (not JSON).
 */
export async function receiveListBody(
  request: FastifyRequest,
  body: IncomingBody,
  deps: Pick<BaseDeps, "jobs" | "admission">,
): Promise<unknown> {
  const shape = shapeOf(request.routeOptions.schema?.body as object);
  const token = randomBytes(16).toString("hex");
  const limits = { bytes: MAX_LIST_BODY_BYTES, memory_per_byte: LIST_BODY_BYTES_PER_BYTE };
  const rest_bytes = restBytesOf(request);
  const document = await receiveBody(request, body, limits, deps, ({ text }, job) =>
    job.track(() => text.parse(shape, token, { rest_bytes, depth: MAX_BODY_DEPTH })),
  );
  if (document.too_large) throw tooLarge("the body without its lists of points and numbers", rest_bytes);
  return withLists(request, document, shape, token);
}

/** Largest text of a body besides its lists, bytes. */
export const restBytesOf = (request: FastifyRequest): number => request.routeOptions.config.restBytes ?? MAX_BODY_BYTES;

/** What makes each list of a body a ListColumn; their columns are released with the response. */
export function ownedLists(request: FastifyRequest, lists: readonly ParsedList[]): HeldList[] {
  const held = (column: NativeColumn | null) => column && new ColumnRef(column);
  const owned = lists.map(({ length, column, items, wrong_index: index, wrong_text, unknown }) => {
    const wrong = column ? null : { index, value: wrong_text === "" ? undefined : JSON.parse(wrong_text) };
    return { length, ref: held(column), items: held(items), wrong, unknown };
  });
  request.bodyLists = owned.flatMap(({ ref, items }) => [ref, items]).filter((one) => one !== null);
  return owned;
}

/** The value of a document with its lists put back. */
function withLists(
  request: FastifyRequest,
  { rest, lists, blank }: JsonDocument,
  shape: JsonShape,
  token: string,
): unknown {
  const owned = ownedLists(request, lists);
  if (blank) return undefined;
  const put = (value: unknown, at: JsonShape): unknown => {
    if (at.kind === "value") return value;
    if (at.kind === "array") return Array.isArray(value) ? value.map((one) => put(one, at.item)) : value;
    if (at.kind === "object" || at.kind === "record") {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
      const record = value as Record<string, unknown>;
      if (at.kind === "record") {
        for (const name of Object.keys(record)) record[name] = put(record[name], at.item);
        return record;
      }
      for (const [name, field] of Object.entries(at.fields)) {
        if (Object.hasOwn(record, name)) record[name] = put(record[name], field);
      }
      return record;
    }
    if (typeof value !== "string" || !value.startsWith(token)) return value;
    return new ListColumn(at.kind, owned[Number(value.slice(token.length))]);
  };
  return put(JSON.parse(rest), shape);
}
