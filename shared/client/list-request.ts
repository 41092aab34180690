import type { z } from "zod";
import type { BulkColumn } from "../contract/bulk-list.ts";
import { encodeFrame, type FrameArray } from "../wire/phb1.ts";

type OrArray<Field> = BulkColumn extends Field ? Exclude<Field, BulkColumn> | FrameArray : Field;

/**
 * A request with lists. A list may be a flat typed array (points: x, y, z in turn); the request is then sent as a PHB1
 * frame. float32 keeps 24 bits: subtract an origin near the points in float64 and send it as `frame_origin`.
 */
export type ListRequest<S extends z.ZodType> = { readonly [Name in keyof z.input<S>]: OrArray<z.input<S>[Name]> } & {
  /** Added to points sent as a typed array, metres; default 0. */
  readonly frame_origin?: readonly [number, number, number];
};

/** The body of a request: a frame if it has a typed array, otherwise JSON. */
export function listBody(request: object): { json: unknown } | { frame: Uint8Array<ArrayBuffer> } {
  const { frame_origin, ...fields } = request as Readonly<Record<string, unknown>>;
  const entries = Object.entries(fields);
  const buffers = entries.filter((entry): entry is [string, FrameArray] => isFrameArray(entry[1]));
  if (buffers.length === 0 && frame_origin === undefined) return { json: fields };
  const others = Object.fromEntries(entries.filter(([, value]) => !isFrameArray(value)));
  const meta = { request: others, ...(frame_origin === undefined ? {} : { origin: frame_origin }) };
  return { frame: encodeFrame(meta, Object.fromEntries(buffers)) };
}

const isFrameArray = (value: unknown): value is FrameArray =>
  value instanceof Float32Array || value instanceof Uint32Array;
