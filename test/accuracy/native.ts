// Columns and readers of the addon, for programs that are no part of the service.
import { addon } from "../../backend/native/core/addon.ts";
import type { DType, NativeColumn } from "../../backend/native/core/handles.ts";
import type { LasHeader } from "../../backend/native/files/readers.ts";

const ARRAYS = {
  u8: Uint8Array,
  i8: Int8Array,
  u16: Uint16Array,
  i16: Int16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
  vec3d: Float64Array,
  rgb16: Uint16Array,
} as const satisfies Partial<Record<DType, unknown>>;
type Values = InstanceType<(typeof ARRAYS)[keyof typeof ARRAYS]>;

function bytesOf(column: NativeColumn): ArrayBuffer {
  const bytes = new Uint8Array(column.bytes);
  for (let at = 0; at < bytes.length; ) {
    const read = column.readInto(bytes.subarray(at), at);
    if (read === 0) break;
    at += read;
  }
  return bytes.buffer;
}

/** The values of a native column as a typed array of its own type. */
export function values(column: NativeColumn): Values {
  const { dtype } = column;
  if (!(dtype in ARRAYS)) throw new Error(`no array holds a column of ${dtype}`);
  return new ARRAYS[dtype as keyof typeof ARRAYS](bytesOf(column));
}

/** The values of a column of labels. */
export function labelsOf(column: NativeColumn): Uint8Array {
  if (column.dtype !== "u8") throw new Error(`a label column is of ${column.dtype}, not u8`);
  return new Uint8Array(bytesOf(column));
}

/** x, y, z after each other. */
export function coordinatesOf(column: NativeColumn): Float64Array {
  if (column.dtype !== "vec3d") throw new Error(`positions are of ${column.dtype}, not vec3d`);
  return new Float64Array(bytesOf(column));
}

/** A native column of a typed array. */
export const column = (dtype: DType, array: NodeJS.TypedArray): NativeColumn =>
  new addon.Column(dtype, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));

/** A native column of positions. */
export const positions = (xyz: Float64Array): NativeColumn => column("vec3d", xyz);

const whole = (unit_scale: number) => ({
  frame: { unit_scale, shift: [0, 0, 0] as const },
  first_row: 0,
  row_count: null,
});

/** Positions in metres and the named column of a LAS or LAZ file. */
export async function readLas(path: string, name: string, unitScale = 1) {
  const cloud = await addon.readLas(path, { ...whole(unitScale), skip_columns: [] }).promise;
  const column = cloud.columns.find((one) => one.name === name);
  if (!column) throw new Error(`${path} has no column ${name}: ${cloud.columns.map((one) => one.name).join(", ")}`);
  return { xyz: coordinatesOf(cloud.positions), column: values(column.column) };
}

export const readLasHeader = (path: string): Promise<LasHeader> => addon.readLasHeader(path).promise;

/** Positions of a PCD file. */
export const readPcd = async (path: string): Promise<Float64Array> =>
  coordinatesOf((await addon.readPcd(path, whole(1)).promise).positions);
