import { closeSync, ftruncateSync, openSync, writeSync } from "node:fs";

const HEADER = 227;
const RECORD = 20; // point format 0

export interface TileHeader {
  readonly points: number;
  readonly min: readonly [number, number, number];
  readonly max: readonly [number, number, number];
  /** EPSG code and EPSG code of the unit of a projected system. */
  readonly crs?: { readonly epsg: number; readonly unit?: number };
  readonly scale?: number;
}

/** The header of a LAS 1.2 file of point format 0, after the ASPRS specification 1.4 R15, sections 2.4 and 2.5. */
function headerBytes({ points, min, max, crs, scale = 0.001 }: TileHeader): Buffer {
  const keys = crs ? [1024, 0, 1, 1, 3072, 0, 1, crs.epsg, ...(crs.unit ? [3076, 0, 1, crs.unit] : [])] : [];
  const directory = Uint16Array.from(crs ? [1, 1, 0, keys.length / 4, ...keys] : []);
  const start = HEADER + (crs ? 54 + directory.byteLength : 0);
  const bytes = Buffer.alloc(start);
  bytes.write("LASF", 0);
  bytes.writeUInt8(1, 24);
  bytes.writeUInt8(2, 25);
  bytes.writeUInt16LE(HEADER, 94);
  bytes.writeUInt32LE(start, 96);
  bytes.writeUInt32LE(crs ? 1 : 0, 100);
  bytes.writeUInt16LE(RECORD, 105);
  bytes.writeUInt32LE(points, 107);
  for (const axis of [0, 1, 2] as const) {
    bytes.writeDoubleLE(scale, 131 + 8 * axis);
    bytes.writeDoubleLE(Math.floor(min[axis] / 1000) * 1000, 155 + 8 * axis);
    bytes.writeDoubleLE(max[axis], 179 + 16 * axis);
    bytes.writeDoubleLE(min[axis], 187 + 16 * axis);
  }
  if (crs) {
    bytes.write("LASF_Projection", HEADER + 2);
    bytes.writeUInt16LE(34735, HEADER + 18);
    bytes.writeUInt16LE(directory.byteLength, HEADER + 20);
    Buffer.from(directory.buffer).copy(bytes, HEADER + 54);
  }
  return bytes;
}

/** A file with a header and as many empty records as it declares; they take no place on the disk. */
export function writeEmptyTile(path: string, header: TileHeader): void {
  const bytes = headerBytes(header);
  const file = openSync(path, "w");
  try {
    writeSync(file, bytes);
    ftruncateSync(file, bytes.length + header.points * RECORD);
  } finally {
    closeSync(file);
  }
}

/** A file of points, x y z interleaved, metres. */
export function writeTile(path: string, xyz: ArrayLike<number>, crs?: TileHeader["crs"], scale = 0.001): void {
  const points = xyz.length / 3;
  const end = (axis: number, pick: (a: number, b: number) => number) => {
    let value = xyz[axis] ?? 0;
    for (let i = axis; i < xyz.length; i += 3) value = pick(value, xyz[i] ?? 0);
    return Math.round(value / scale) * scale;
  };
  const min = [end(0, Math.min), end(1, Math.min), end(2, Math.min)] as const;
  const max = [end(0, Math.max), end(1, Math.max), end(2, Math.max)] as const;
  const head = headerBytes({ points, min, max, scale, ...(crs ? { crs } : {}) });
  const bytes = Buffer.alloc(head.length + points * RECORD);
  head.copy(bytes);
  const offset = min.map((low) => Math.floor(low / 1000) * 1000);
  for (let i = 0; i < points; i += 1) {
    const at = head.length + i * RECORD;
    for (let axis = 0; axis < 3; axis += 1)
      bytes.writeInt32LE(Math.round(((xyz[3 * i + axis] ?? 0) - (offset[axis] ?? 0)) / scale), at + 4 * axis);
    bytes.writeUInt8(0b001_001, at + 14); // first return of one
  }
  const file = openSync(path, "w");
  try {
    writeSync(file, bytes);
  } finally {
    closeSync(file);
  }
}
