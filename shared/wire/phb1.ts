import { AppError } from "../errors.ts";
import { MAX_FRAME_BUFFERS, MAX_FRAME_HEADER_BYTES } from "../limits.ts";
import { isPlainObject, magicWord, paddedJson, utf8, viewOf, words } from "./bytes.ts";

/*
 * PHB1: one JSON header and flat arrays. Little-endian, no checksum, no trailer.
 *
 * offset          size        type    meaning
 * 0               4           bytes   magic "PHB1"
 * 4               4           u32     header_len, bytes of the JSON header with its padding
 * 8               header_len  UTF-8   {"meta": {...}, "buffers": [{"name", "dtype": "f32"|"u32", "length"}, ...]},
 *                                     right-padded with spaces to a multiple of 4
 * 8 + header_len  4 * length  f32|u32 payloads in descriptor order, no gaps; length counts elements, not bytes
 *
 * Arrays with several dimensions are row-major: (n, 3) has length 3n. An id of -1 is 0xFFFFFFFF. Numbers in `meta` that
 * JSON cannot represent (NaN, infinities) become null. Bytes after the last payload are ignored.
 */

export const PHB1_MAGIC = magicWord("PHB1");

export type FrameDtype = "f32" | "u32";
export interface FrameDescriptor {
  readonly name: string;
  readonly dtype: FrameDtype;
  /** Number of elements, not bytes. */
  readonly length: number;
}
export type FrameArray = Float32Array | Uint32Array;
export interface Frame {
  readonly meta: Readonly<Record<string, unknown>>;
  /** In descriptor order. Views of the decoded bytes if their alignment allows it. */
  readonly buffers: ReadonlyMap<string, FrameArray>;
}

function invalid(rule: string): AppError {
  return new AppError("invalid_argument", `PHB1 frame: ${rule}`);
}

/** Everything before the payloads. Errors: invalid_argument for a duplicate name or an invalid length. */
export function encodeFrameHeader(
  meta: Readonly<Record<string, unknown>>,
  buffers: readonly FrameDescriptor[],
): Uint8Array {
  checkDescriptors(buffers);
  const plain = buffers.map(({ name, dtype, length }) => ({ name, dtype, length }));
  const out = paddedJson({ meta, buffers: plain }, 8);
  if (out.length - 8 > MAX_FRAME_HEADER_BYTES) {
    throw invalid(
      `the header has ${out.length - 8} bytes, but the limit is ${MAX_FRAME_HEADER_BYTES}; move lists to buffers`,
    );
  }
  const view = viewOf(out);
  view.setUint32(0, PHB1_MAGIC, true);
  view.setUint32(4, out.length - 8, true);
  return out;
}

/** A complete frame in one array, for requests and small answers; backend/http/frame.ts sends large ones. */
export function encodeFrame(
  meta: Readonly<Record<string, unknown>>,
  buffers: Readonly<Record<string, FrameArray>> = {},
): Uint8Array<ArrayBuffer> {
  const arrays = Object.entries(buffers);
  const header = encodeFrameHeader(
    meta,
    arrays.map(([name, data]) => ({ name, dtype: data instanceof Float32Array ? "f32" : "u32", length: data.length })),
  );
  const out = new Uint8Array(arrays.reduce((sum, [, data]) => sum + data.byteLength, header.length));
  out.set(header);
  let at = header.length;
  for (const [, data] of arrays) {
    out.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return out;
}

/**
 * Decodes a frame. Every length is checked against the available bytes before it is used.
 * Errors: invalid_argument, naming the broken rule.
 */
export function decodeFrame(bytes: Uint8Array): Frame {
  const headerLength = frameHeaderLength(bytes, MAX_FRAME_HEADER_BYTES);
  if (headerLength > bytes.length - 8) {
    throw invalid(`header_len ${headerLength} but only ${bytes.length - 8} bytes follow`);
  }
  const { meta, descriptors } = parseFrameHeader(bytes.subarray(8, 8 + headerLength));
  checkFrameLength(descriptors, bytes.length - 8 - headerLength);
  const buffers = new Map<string, FrameArray>();
  let at = 8 + headerLength;
  for (const { name, dtype, length } of descriptors) {
    buffers.set(name, dtype === "f32" ? words(bytes, at, length, Float32Array) : words(bytes, at, length, Uint32Array));
    at += 4 * length;
  }
  return { meta, buffers };
}

/** header_len of a frame that starts with `bytes`, at least 8. Errors: invalid_argument, also above `limit`. */
export function frameHeaderLength(bytes: Uint8Array, limit: number): number {
  if (bytes.length < 8) throw invalid(`${bytes.length} bytes are too few, a frame starts with 8`);
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== PHB1_MAGIC) throw invalid('the body must start with "PHB1"');
  const headerLength = view.getUint32(4, true);
  if (headerLength > limit) throw invalid(`header_len ${headerLength} is above the limit of ${limit}`);
  return headerLength;
}

/** Errors: invalid_argument if the buffers are longer than the `present` bytes behind the header. */
export function checkFrameLength(descriptors: readonly FrameDescriptor[], present: number): void {
  const declared = descriptors.reduce((sum, { length }) => sum + 4 * length, 0);
  if (declared > present) throw invalid(`the buffers declare ${declared} bytes but only ${present} follow`);
}

/** The JSON header of a frame. Errors: invalid_argument, naming the broken rule. */
export function parseFrameHeader(json: Uint8Array): {
  meta: Record<string, unknown>;
  descriptors: FrameDescriptor[];
} {
  let header: unknown;
  try {
    header = JSON.parse(utf8(json));
  } catch {
    throw invalid("the header is not UTF-8 JSON");
  }
  if (!isPlainObject(header)) throw invalid("the header must be an object");
  const { meta, buffers } = header;
  if (!isPlainObject(meta)) throw invalid("meta must be an object");
  if (!Array.isArray(buffers)) throw invalid("buffers must be a list");
  checkDescriptors(buffers);
  return { meta, descriptors: buffers };
}

function checkDescriptors(buffers: readonly unknown[]): asserts buffers is readonly FrameDescriptor[] {
  if (buffers.length > MAX_FRAME_BUFFERS)
    throw invalid(`${buffers.length} buffers, but the limit is ${MAX_FRAME_BUFFERS}`);
  const names = new Set<string>();
  for (const [i, entry] of buffers.entries()) {
    if (!isPlainObject(entry)) throw invalid(`buffers[${i}] must be an object`);
    const { name, dtype, length } = entry;
    if (typeof name !== "string") throw invalid(`buffers[${i}].name must be a string`);
    if (names.has(name)) throw invalid(`buffer "${name}" appears twice`);
    names.add(name);
    if (dtype !== "f32" && dtype !== "u32") {
      throw invalid(`buffer "${name}" has dtype ${JSON.stringify(dtype)}; it must be "f32" or "u32"`);
    }
    if (typeof length !== "number" || !Number.isSafeInteger(length) || length < 0 || length > 2 ** 48) {
      throw invalid(`buffer "${name}" has length ${JSON.stringify(length)}; it must be a number of elements`);
    }
  }
}

/** The named buffer as float32. Errors: invalid_argument if it is missing, not f32, or not rows of `width`. */
export function requireF32(frame: Frame, name: string, width = 1): Float32Array {
  const data = requireBuffer(frame, name, width);
  if (!(data instanceof Float32Array)) throw invalid(`buffer "${name}" must be f32`);
  return data;
}

/** The named buffer as uint32. Errors: invalid_argument if it is missing, not u32, or not rows of `width`. */
export function requireU32(frame: Frame, name: string, width = 1): Uint32Array {
  const data = requireBuffer(frame, name, width);
  if (!(data instanceof Uint32Array)) throw invalid(`buffer "${name}" must be u32`);
  return data;
}

function requireBuffer(frame: Frame, name: string, width: number): FrameArray {
  const data = frame.buffers.get(name);
  if (!data) throw invalid(`buffer "${name}" is missing; got ${[...frame.buffers.keys()].join(", ") || "none"}`);
  if (data.length % width !== 0) throw invalid(`buffer "${name}" has ${data.length} elements, not rows of ${width}`);
  return data;
}
