import { AppError } from "../errors.ts";
import type { ElementType, OctreeAttribute, OctreeMetadata } from "./potree2-metadata.ts";

/** Values of one attribute in its own type: point by point, elements interleaved. */
export type AttributeArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array;

export interface PointRecords {
  readonly point_count: number;
  /** (n, 3) in the octree's frame (stored frame of the session): int32 * scale + offset. */
  readonly position: Float64Array;
  /** The requested attributes, as far as the octree has them. */
  readonly attributes: ReadonlyMap<string, AttributeArray>;
}

/** Number of records in `bytes`. Errors: invalid_file if the last one is cut off. */
export function recordCount(bytes: Uint8Array, metadata: OctreeMetadata): number {
  const n = bytes.length / metadata.record_bytes;
  if (!Number.isInteger(n)) {
    throw new AppError(
      "invalid_file",
      `octree.bin: ${bytes.length} bytes are not a multiple of the ${metadata.record_bytes} bytes of a point`,
    );
  }
  return n;
}

/** Decodes complete point records. Unknown names are ignored. Errors: invalid_file for a cut record. */
export function decodeRecords(
  bytes: Uint8Array,
  metadata: OctreeMetadata,
  names: readonly string[] = [],
): PointRecords {
  const n = recordCount(bytes, metadata);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const attributes = new Map<string, AttributeArray>();
  for (const attribute of metadata.attributes) {
    if (attribute.name === "position" || !names.includes(attribute.name)) continue;
    attributes.set(attribute.name, decodeAttribute(view, n, attribute, metadata.record_bytes));
  }
  return { point_count: n, position: decodePositions(view, n, metadata), attributes };
}

function decodePositions(view: DataView, n: number, metadata: OctreeMetadata): Float64Array {
  const { scale, offset, record_bytes } = metadata;
  const at = metadata.attributes.find(({ name }) => name === "position")?.byte_offset ?? 0;
  const out = new Float64Array(3 * n);
  for (let i = 0, from = at, to = 0; i < n; i += 1, from += record_bytes, to += 3) {
    out[to] = view.getInt32(from, true) * scale[0] + offset[0];
    out[to + 1] = view.getInt32(from + 4, true) * scale[1] + offset[1];
    out[to + 2] = view.getInt32(from + 8, true) * scale[2] + offset[2];
  }
  return out;
}

function decodeAttribute(view: DataView, n: number, attribute: OctreeAttribute, stride: number): AttributeArray {
  const { type, num_elements, byte_offset } = attribute;
  const fill = <T extends { [index: number]: V }, V>(out: T, size: number, read: (at: number) => V): T => {
    for (let i = 0, to = 0; i < n; i += 1) {
      const record = i * stride + byte_offset;
      for (let e = 0; e < num_elements; e += 1, to += 1) out[to] = read(record + e * size);
    }
    return out;
  };
  const length = n * num_elements;
  const decoders: Record<ElementType, () => AttributeArray> = {
    int8: () => fill(new Int8Array(length), 1, (at) => view.getInt8(at)),
    uint8: () => fill(new Uint8Array(length), 1, (at) => view.getUint8(at)),
    int16: () => fill(new Int16Array(length), 2, (at) => view.getInt16(at, true)),
    uint16: () => fill(new Uint16Array(length), 2, (at) => view.getUint16(at, true)),
    int32: () => fill(new Int32Array(length), 4, (at) => view.getInt32(at, true)),
    uint32: () => fill(new Uint32Array(length), 4, (at) => view.getUint32(at, true)),
    int64: () => fill(new BigInt64Array(length), 8, (at) => view.getBigInt64(at, true)),
    uint64: () => fill(new BigUint64Array(length), 8, (at) => view.getBigUint64(at, true)),
    float: () => fill(new Float32Array(length), 4, (at) => view.getFloat32(at, true)),
    double: () => fill(new Float64Array(length), 8, (at) => view.getFloat64(at, true)),
  };
  return decoders[type]();
}
