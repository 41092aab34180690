import type { NativeColumn } from "../../../backend/native/core/handles.ts";

/** A copy of all bytes of a column. */
export function columnBytes(column: NativeColumn): ArrayBuffer {
  const out = new Uint8Array(column.bytes);
  for (let at = 0; at < out.length; ) {
    const read = column.readInto(out.subarray(at), at);
    if (read === 0) throw new Error(`a column ends after ${at} of ${out.length} bytes`);
    at += read;
  }
  return out.buffer;
}
