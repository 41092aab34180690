import { AppError } from "../errors.ts";

/** Typed-array views read the host's byte order; every format here is little-endian, as is every host Electron runs on. */
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new AppError("unsupported", "this machine is big-endian; the wire formats need a little-endian one");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The four ASCII bytes of a magic as the uint32 that a little-endian read of them gives. */
export function magicWord(magic: string): number {
  return new DataView(encoder.encode(magic).buffer).getUint32(0, true);
}

/** UTF-8 JSON, right-padded with spaces to a multiple of four bytes behind `headRoom` bytes left for the caller. */
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

/** `count` 4-byte elements at `offset` as a typed array: a view when the address is aligned, else one copy. */
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
