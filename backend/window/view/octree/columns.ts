import type { Point } from "../../../../shared/contract/geometry.ts";
import {
  ELEMENT_BYTES,
  type ElementType,
  type OctreeAttribute,
  type OctreeMetadata,
} from "../../../../shared/octree/potree2-metadata.ts";

type Read = (view: DataView, at: number) => number;
const READ: Readonly<Record<ElementType, Read>> = {
  int8: (view, at) => view.getInt8(at),
  uint8: (view, at) => view.getUint8(at),
  int16: (view, at) => view.getInt16(at, true),
  uint16: (view, at) => view.getUint16(at, true),
  int32: (view, at) => view.getInt32(at, true),
  uint32: (view, at) => view.getUint32(at, true),
  int64: (view, at) => Number(view.getBigInt64(at, true)),
  uint64: (view, at) => Number(view.getBigUint64(at, true)),
  float: (view, at) => view.getFloat32(at, true),
  double: (view, at) => view.getFloat64(at, true),
};

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** (3 n) positions relative to `origin`, both in the stored frame: the difference is taken in float64. */
export function localPositions(bytes: Uint8Array, metadata: OctreeMetadata, origin: Point): Float32Array {
  const view = viewOf(bytes);
  const { scale, offset, record_bytes } = metadata;
  const at = metadata.attributes.find(({ name }) => name === "position")?.byte_offset ?? 0;
  const [dx, dy, dz] = [offset[0] - origin[0], offset[1] - origin[1], offset[2] - origin[2]];
  const n = Math.floor(bytes.length / record_bytes);
  const out = new Float32Array(3 * n);
  for (let i = 0, from = at; i < n; i += 1, from += record_bytes) {
    out[3 * i] = view.getInt32(from, true) * scale[0] + dx;
    out[3 * i + 1] = view.getInt32(from + 4, true) * scale[1] + dy;
    out[3 * i + 2] = view.getInt32(from + 8, true) * scale[2] + dz;
  }
  return out;
}

/** (n) first elements of a column, less `base`: times of 1e9 s keep their fractions in float32. */
export function columnValues(
  bytes: Uint8Array,
  metadata: OctreeMetadata,
  { type, byte_offset }: OctreeAttribute,
  base: number,
): Float32Array {
  const view = viewOf(bytes);
  const read = READ[type];
  const n = Math.floor(bytes.length / metadata.record_bytes);
  const out = new Float32Array(n);
  for (let i = 0, at = byte_offset; i < n; i += 1, at += metadata.record_bytes) out[i] = read(view, at) - base;
  return out;
}

/** (4 n) red, green, blue, 255 of the column "rgba" or "rgb"; null without one. 16-bit colours keep their upper byte. */
export function columnColours(bytes: Uint8Array, metadata: OctreeMetadata): Uint8Array | null {
  const attribute = colourAttribute(metadata);
  if (!attribute) return null;
  const view = viewOf(bytes);
  const size = ELEMENT_BYTES[attribute.type];
  const read = READ[attribute.type];
  const n = Math.floor(bytes.length / metadata.record_bytes);
  const out = new Uint8Array(4 * n).fill(255);
  for (let i = 0; i < n; i += 1) {
    const at = i * metadata.record_bytes + attribute.byte_offset;
    for (let e = 0; e < 3; e += 1) {
      const value = read(view, at + e * size);
      out[4 * i + e] = size === 2 ? value >> 8 : value;
    }
  }
  return out;
}

export const colourAttribute = ({ attributes }: Pick<OctreeMetadata, "attributes">) =>
  attributes.find(({ name, num_elements }) => (name === "rgba" || name === "rgb") && num_elements >= 3);

/** Values of all single-element columns of one point. */
export function pointValues(bytes: Uint8Array, metadata: OctreeMetadata, index: number): Record<string, number> {
  const view = viewOf(bytes);
  const single = metadata.attributes.filter(({ num_elements, name }) => num_elements === 1 && name !== "position");
  return Object.fromEntries(
    single.map(({ name, type, byte_offset }) => [name, READ[type](view, index * metadata.record_bytes + byte_offset)]),
  );
}
