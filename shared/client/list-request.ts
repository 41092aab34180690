import type { z } from "zod";
import type { BulkColumn } from "../contract/bulk-list.ts";
import { isPlainObject } from "../wire/bytes.ts";
import { encodeFrame, type FrameArray } from "../wire/phb1.ts";

type OrArray<Field> = BulkColumn extends Field ? Exclude<Field, BulkColumn> | FrameArray : OrItems<Field>;
/** Lists of objects that have lists. */
type OrItems<Field> = Field extends readonly (infer Item)[]
  ? Item extends readonly unknown[] | string | number | boolean
    ? Field
    : readonly { readonly [Name in keyof Item]: OrArray<Item[Name]> }[]
  : Field;

/**
 * A request with lists. A list may be a flat typed array (points: x, y, z in turn); the request is then sent as a PHB1
 * frame, also for lists inside objects of a list (meshes[0].vertices). float32 keeps 24 bits: subtract an origin near the points in float64 and send it as `frame_origin`.
 */
export type ListRequest<S extends z.ZodType> = { readonly [Name in keyof z.input<S>]: OrArray<z.input<S>[Name]> } & {
  /** Added to points sent as a typed array, metres; default 0. */
  readonly frame_origin?: readonly [number, number, number];
};

/** The body of a request: a frame if it has a typed array, otherwise JSON. */
export function listBody(request: object): { json: unknown } | { frame: Uint8Array<ArrayBuffer> } {
  const { frame_origin, ...fields } = request as Readonly<Record<string, unknown>>;
  const buffers: Record<string, FrameArray> = {};
  const others = withoutArrays(fields, "", buffers);
  if (Object.keys(buffers).length === 0 && frame_origin === undefined) return { json: fields };
  const meta = { request: others, ...(frame_origin === undefined ? {} : { origin: frame_origin }) };
  return { frame: encodeFrame(meta, buffers) };
}

/** The fields without typed arrays, which are added to `buffers` under their paths. */
function withoutArrays(
  fields: Readonly<Record<string, unknown>>,
  path: string,
  buffers: Record<string, FrameArray>,
): Record<string, unknown> {
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (isFrameArray(value)) buffers[path + name] = value;
    else if (Array.isArray(value) && value.every(isPlainObject) && value.length > 0)
      others[name] = value.map((item, i) => withoutArrays(item, `${path}${name}.${i}.`, buffers));
    else others[name] = value;
  }
  return others;
}

const isFrameArray = (value: unknown): value is FrameArray =>
  value instanceof Float32Array || value instanceof Uint32Array;
