import type { FastifyRequest } from "fastify";
import type { BulkKind } from "../../shared/contract/bulk-list.ts";
import { AppError } from "../../shared/errors.ts";
import { FRAME_BODY_BYTES_PER_BYTE, MAX_FRAME_BODY_BYTES } from "../../shared/limits.ts";
import { isPlainObject } from "../../shared/wire/bytes.ts";
import { checkFrameLength, frameHeaderLength, parseFrameHeader } from "../../shared/wire/phb1.ts";
import type { FrameList, JsonShape } from "../native/core/request-text.ts";
import { ListColumn } from "../sessions/list-column.ts";
import { ownedLists, restBytesOf } from "./list-body.ts";
import { shapeOf } from "./list-shape.ts";
import { type IncomingBody, receiveBody } from "./receive-body.ts";
import type { BaseDeps } from "./types.ts";

type Triple = readonly [number, number, number];

/** A list of the request and the buffer that holds it. */
interface PlacedBuffer {
  /** The object of the request that has the list, and its key there. */
  readonly holder: Record<string, unknown>;
  readonly name: string;
  readonly kind: BulkKind;
  readonly source: FrameList;
}

/** The header of a request frame. */
interface FrameRequest {
  readonly body: Record<string, unknown>;
  readonly buffers: readonly PlacedBuffer[];
}

/** The list that meta.origin belongs to. */
const POINTS = "points";
const ZERO: Triple = [0, 0, 0];

const refused = (rule: string) => new AppError("invalid_argument", `PHB1 request: ${rule}`);

/**
 * Receives a PHB1 body (docs/wire.md): the fields of `meta` and `meta.request`, with the buffers as its lists. Errors: those of
 * receiveBody, invalid_argument.
 */
export async function receiveFrameBody(
  request: FastifyRequest,
  incoming: IncomingBody,
  deps: Pick<BaseDeps, "jobs" | "admission">,
): Promise<unknown> {
  const shape = shapeOf(request.routeOptions.schema?.body as object);
  const head_bytes = restBytesOf(request);
  const limits = { bytes: MAX_FRAME_BODY_BYTES, memory_per_byte: FRAME_BODY_BYTES_PER_BYTE, head_bytes };
  const { frame, lists } = await receiveBody(request, incoming, limits, deps, async ({ text, length, head }, job) => {
    const frame = readHeader(head, { length, head_bytes }, shape);
    const sources = frame.buffers.map(({ source }) => source);
    return { frame, lists: await job.track(() => text.frameLists(sources)) };
  });
  const owned = ownedLists(request, lists);
  for (const [i, { holder, name, kind }] of frame.buffers.entries()) holder[name] = new ListColumn(kind, owned[i]);
  return frame.body;
}

function readHeader(
  head: Uint8Array,
  { length, head_bytes }: { readonly length: number; readonly head_bytes: number },
  shape: JsonShape,
): FrameRequest {
  const header = frameHeaderLength(head, head_bytes - 8);
  if (8 + header > length) throw refused(`header_len ${header} but only ${length - 8} bytes follow`);
  const { meta, descriptors } = parseFrameHeader(head.subarray(8, 8 + header));
  checkFrameLength(descriptors, length - 8 - header);
  const { request = {}, origin = ZERO, ...scalars } = meta;
  if (!isPlainObject(request)) throw refused("meta.request must be an object");
  const twice = Object.keys(scalars).find((name) => Object.hasOwn(request, name));
  if (twice !== undefined) throw refused(`${twice} is given twice, in meta and in meta.request`);
  if (origin !== ZERO && !descriptors.some(({ name }) => name === POINTS)) {
    throw refused("meta.origin is given without a buffer of points, to which it belongs");
  }
  if (origin !== ZERO && kindAt(shape, [POINTS]) !== "points") {
    throw refused("meta.origin is given, but the points of this request are a flat list, which it is not added to");
  }
  if (!isTriple(origin)) throw refused("meta.origin must be three finite numbers");
  const body = { ...scalars, ...request };
  const buffers: PlacedBuffer[] = [];
  let offset = 8 + header;
  for (const { name, dtype, length: elements } of descriptors) {
    const path = name.split(".");
    if (path.includes("__proto__")) throw refused("a buffer with the forbidden name __proto__");
    const kind = kindAt(shape, path);
    const source = { dtype, offset, length: elements, origin: name === POINTS ? origin : ZERO };
    if (kind && kind !== "text" && kind !== "records")
      buffers.push({ ...placeOf(body, shape, path), kind, source: { kind, ...source } });
    else if (isField(shape, name)) throw refused(`${name} is no list, send it in meta.request`);
    else body[name] = null; // an unknown key, which a warning names
    offset += 4 * elements;
  }
  return { body, buffers };
}

const isTriple = (value: unknown): value is Triple =>
  Array.isArray(value) && value.length === 3 && value.every(Number.isFinite);

const isField = (shape: JsonShape, name: string): boolean =>
  shape.kind === "object" && Object.hasOwn(shape.fields, name);

const INDEX = /^(0|[1-9]\d{0,3})$/;

/** The kind of the list at a path, such as meshes.0.vertices; undefined if there is none. */
function kindAt(shape: JsonShape | undefined, path: readonly string[]): BulkKind | undefined {
  const [name, ...rest] = path;
  if (!shape || shape.kind === "value") return undefined;
  if (shape.kind === "array")
    return name !== undefined && INDEX.test(name) && rest.length > 0 ? kindAt(shape.item, rest) : undefined;
  if (shape.kind === "record") return name === undefined ? undefined : kindAt(shape.item, rest);
  if (shape.kind !== "object") return name === undefined ? shape.kind : undefined;
  return name !== undefined && Object.hasOwn(shape.fields, name) ? kindAt(shape.fields[name], rest) : undefined;
}

/** The object of the request to which a list belongs, made if it is missing. `path` has a kind. */
function placeOf(
  body: Record<string, unknown>,
  shape: JsonShape | undefined,
  [name = "", ...rest]: readonly string[],
): Pick<PlacedBuffer, "holder" | "name"> {
  if (rest.length === 0) {
    if (Object.hasOwn(body, name)) throw refused(`${name} is given twice, in meta and as a buffer`);
    return { holder: body, name };
  }
  const at = shape?.kind === "object" ? shape.fields[name] : shape?.kind === "record" ? shape.item : undefined;
  if (at?.kind === "array") return placeOf(itemAt(body, name, Number(rest[0])), at.item, rest.slice(1));
  const inner = Object.hasOwn(body, name) ? body[name] : {};
  if (!isPlainObject(inner)) throw refused(`meta.request.${name} must be an object`);
  body[name] = inner;
  return placeOf(inner, at, rest);
}

/** Object `index` of a list of the request; the list, and the object after its last one, are made if they are missing. */
function itemAt(body: Record<string, unknown>, name: string, index: number): Record<string, unknown> {
  const items: unknown = Object.hasOwn(body, name) ? body[name] : [];
  if (!Array.isArray(items)) throw refused(`meta.request.${name} must be a list`);
  if (index > items.length) throw refused(`${name}.${index} is given, but ${name}.${items.length} is not`);
  if (index === items.length) items.push({});
  const item: unknown = items[index];
  if (!isPlainObject(item)) throw refused(`meta.request.${name}[${index}] must be an object`);
  body[name] = items;
  return item;
}
