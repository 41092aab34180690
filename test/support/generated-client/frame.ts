/* A reader of frames written from docs/wire.md alone, as a user of a generated client needs one. */

/** A frame: its meta and its arrays. */
export interface Frame {
  readonly meta: Record<string, unknown>;
  readonly arrays: ReadonlyMap<string, Float32Array | Uint32Array>;
}

const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** The frame at the end of a run's stream. Errors: the run failed, with its sentence; the bytes are none. */
export function frameOf(buffer: ArrayBuffer): Frame {
  const bytes = new Uint8Array(buffer);
  const view = new DataView(buffer);
  const text = (at: number, length: number) => new TextDecoder().decode(bytes.subarray(at, at + length));
  for (let at = 0; at < bytes.length; ) {
    if (SPACE.has(bytes[at] ?? 0)) {
      at += 1;
      continue;
    }
    const length = view.getUint32(at + 4, true);
    const kind = text(at, 4);
    const json = JSON.parse(text(at + 8, length)) as Record<string, unknown>;
    at += 8 + length;
    if (kind === "PHP1") {
      if (json.error) throw new Error(String(json.error));
      continue;
    }
    if (kind !== "PHB1") throw new Error(`neither a marker nor a frame: ${kind}`);
    const meta = json.meta as Record<string, unknown>;
    if (meta.success === false) throw new Error(String(meta.error));
    const arrays = new Map<string, Float32Array | Uint32Array>();
    for (const { name, dtype, length } of json.buffers as { name: string; dtype: string; length: number }[]) {
      const part = buffer.slice(at, at + 4 * length);
      arrays.set(name, dtype === "f32" ? new Float32Array(part) : new Uint32Array(part));
      at += 4 * length;
    }
    return { meta, arrays };
  }
  throw new Error("the stream ended without a frame");
}
