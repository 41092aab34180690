// The addon, its readers and columns, for programs that are no part of the service.
import { createRequire } from "node:module";
import { join } from "node:path";
import { root } from "../../scripts/fingerprint.mjs";

process.env.OMP_WAIT_POLICY ??= "passive";
export const addon = createRequire(import.meta.url)(join(root, "build", "native", "Release", "pc.node"));

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
};

/** The values of a native column as a typed array. */
export function values(column) {
  const bytes = new Uint8Array(column.bytes);
  for (let at = 0; at < bytes.length; ) {
    const read = column.readInto(bytes.subarray(at), at);
    if (read === 0) break;
    at += read;
  }
  return new ARRAYS[column.dtype](bytes.buffer);
}

/** A native column of a typed array. */
export const column = (dtype, array) =>
  new addon.Column(dtype, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));

/** A native column of positions. */
export const positions = (xyz) => column("vec3d", xyz);

const whole = (unit_scale) => ({ frame: { unit_scale, shift: [0, 0, 0] }, first_row: 0, row_count: null });

/** Positions in metres and the named column of a LAS or LAZ file. */
export async function readLas(path, name, unitScale = 1) {
  const cloud = await addon.readLas(path, { ...whole(unitScale), skip_columns: [] }).promise;
  const column = cloud.columns.find((one) => one.name === name);
  if (!column) throw new Error(`${path} has no column ${name}: ${cloud.columns.map((one) => one.name).join(", ")}`);
  return { xyz: values(cloud.positions), column: values(column.column) };
}

export const readLasHeader = (path) => addon.readLasHeader(path).promise;

/** Positions of a PCD file. */
export async function readPcd(path) {
  return values((await addon.readPcd(path, whole(1)).promise).positions);
}
