import { setImmediate } from "node:timers/promises";
import { BLOCK_BYTES } from "../../../shared/limits.ts";
import type { NativeColumn } from "../../native/core/handles.ts";

/** Copies a column to `out`, which has its size, block by block: the event loop runs between them. */
export async function copyOut(column: NativeColumn, out: Uint8Array): Promise<void> {
  for (let at = 0; at < out.length; at += BLOCK_BYTES) {
    column.readInto(out.subarray(at, at + BLOCK_BYTES), at);
    await setImmediate();
  }
}
