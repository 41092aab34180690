import { AppError } from "../errors.ts";

/** Typed arrays have the byte order of the host. All formats are little-endian, as are all hosts Electron supports. */
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new AppError("unsupported", "this machine is big-endian; the wire formats need a little-endian one");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The four ASCII bytes of a magic, read as a little-endian uint32. */
export function magicWord(magic: string): number {
  return new DataView(encoder.encode(magic).buffer).getUint32(0, true);
}

/** UTF-8 JSON, right-padded with spaces to a multiple of four bytes, after `headRoom` bytes for the caller. */
export function paddedJson(value: unknown, headRoom: number): Uint8Array {
  const text = encoder.encode(JSON.stringify(value));
  const out = new Uint8Array(headRoom + Math.ceil(text.length / 4) * 4).fill(0x20, headRoom);
  out.set(text, headRoom);
  return out;
}

/** Strict UTF-8; throws TypeError on malformed bytes. */
export function utf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** `count` 4-byte elements at `offset` as a typed array: a view if the address is aligned, else a copy. */
export function words<T>(
  bytes: Uint8Array,
  offset: number,
  count: number,
  make: { new (buffer: ArrayBufferLike, byteOffset: number, length: number): T },
): T {
  const at = bytes.byteOffset + offset;
  if (at % 4 === 0) return new make(bytes.buffer, at, count);
  return new make(bytes.slice(offset, offset + 4 * count).buffer, 0, count);
}
