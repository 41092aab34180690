import type { DType, NativeColumn } from "../../../native/core/handles.ts";

type Values = { readonly length: number; slice(from: number, to: number): ArrayLike<number | bigint> };

const ARRAYS: Readonly<Record<DType, new (buffer: ArrayBuffer) => Values>> = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  i64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
  vec3d: Float64Array,
  rgb16: Uint16Array,
};

/** The values of a column, triples flattened. Copies the whole column: for samples and tests only. */
export function readNumbers(column: NativeColumn): Values {
  const bytes = new Uint8Array(column.bytes);
  column.readInto(bytes, 0);
  return new ARRAYS[column.dtype](bytes.buffer);
}
