/** Element type of a native column; vec3d and rgb16 are interleaved triples of f64 and u16. */
export type DType = "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "u64" | "i64" | "f32" | "f64" | "vec3d" | "rgb16";

/** Opaque handle to native memory. Copy blocks out with readInto(); call release() at the end. */
export interface NativeColumn {
  readonly length: number;
  readonly dtype: DType;
  readonly bytes: number;
  /** True if the column is a mapped file of the session store. */
  readonly fileBacked: boolean;
  /** Copies bytes from `byteOffset` on and returns their number; 0 at the end. */
  readInto(out: Uint8Array, byteOffset: number): number;
  release(): void;
}

/** Progress of a running native op. `phase` is a name for the user; `total` 0 = unknown length of the phase. */
export interface NativeProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

/**
 * A native op on its own thread. `promise` rejects with an Error whose `code` is a name of cpp/core/error.h.
 * `cancel()` raises a flag; the op ends within 250 ms and `promise` rejects with code `canceled`.
 */
export interface NativeJob<T> {
  readonly promise: Promise<T>;
  progress(): NativeProgress;
  cancel(): void;
}
