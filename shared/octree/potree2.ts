import { AppError } from "../errors.ts";
import { type Box, HIERARCHY_RECORD_BYTES, type OctreeMetadata, type Triple } from "./potree2-metadata.ts";

/*
 * hierarchy.bin of a Potree 2 octree: chunks of 22-byte records, little-endian, breadth-first from the chunk's root.
 *
 * offset  size  type  meaning
 * 0       1     u8    0 inner node, 1 leaf, 2 proxy: the record of the node is the first of another chunk
 * 1       1     u8    child mask, bit i = child i exists; child index: bit 2 = x, bit 1 = y, bit 0 = z
 * 2       4     u32   points of the node
 * 6       8     i64   byte offset in octree.bin; of a proxy: of its chunk in hierarchy.bin
 * 14      8     i64   bytes in octree.bin; of a proxy: of its chunk
 *
 * A proxy's children are listed in its own chunk only.
 */

const INNER = 0;
const LEAF = 1;
const PROXY = 2;
/** float64 cubes cannot be halved more often; a deeper tree is damaged. */
const MAX_LEVEL = 1024;

export interface OctreeNode {
  /** "r", then one digit per level. */
  readonly name: string;
  readonly level: number;
  /** Position in octree.bin. */
  readonly byte_offset: number;
  readonly byte_size: number;
  readonly point_count: number;
  readonly bounds: Box;
}

interface Place {
  readonly name: string;
  readonly level: number;
  readonly bounds: Box;
}
interface Chunk {
  readonly offset: number;
  readonly size: number;
  readonly root: Place;
}

function invalid(rule: string): AppError {
  return new AppError("invalid_file", `hierarchy.bin: ${rule}; build the octree again`);
}

/**
 * All nodes of the octree, chunk by chunk from the root, parents before their children.
 *
 * Errors: invalid_file for a chunk outside the file, a cut record, a point range that is not a multiple of the record
 * size, or more nodes than fit the file (proxies that form a loop).
 */
export function parseHierarchy(bytes: Uint8Array, metadata: OctreeMetadata): OctreeNode[] {
  const nodes: OctreeNode[] = [];
  const root: Place = { name: "r", level: 0, bounds: metadata.bounds };
  const chunks: Chunk[] = [{ offset: 0, size: metadata.first_chunk_bytes, root }];
  let bytesLeft = bytes.length;
  for (let next = chunks.pop(); next; next = chunks.pop()) {
    const end = next.offset + next.size;
    if (end > bytes.length) {
      throw invalid(`node ${next.root.name}: its chunk ends at byte ${end}, but the file has ${bytes.length}`);
    }
    bytesLeft -= next.size;
    if (bytesLeft < 0) throw invalid(`node ${next.root.name}: the chunks overlap or form a loop`);
    readChunk(bytes, next, metadata, nodes, chunks);
  }
  return nodes;
}

function readChunk(bytes: Uint8Array, chunk: Chunk, metadata: OctreeMetadata, nodes: OctreeNode[], chunks: Chunk[]) {
  const { offset, size, root } = chunk;
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, size);
  const queue = [root];
  for (let i = 0; i < queue.length; i += 1) {
    const place = queue[i];
    if (!place) break;
    const at = i * HIERARCHY_RECORD_BYTES;
    if (at + HIERARCHY_RECORD_BYTES > size)
      throw invalid(`node ${place.name}: its record is after the end of its chunk`);
    const type = view.getUint8(at);
    const span = { offset: safeInteger(view, at + 6, place), size: safeInteger(view, at + 14, place) };
    if (type === PROXY && i > 0) {
      if (span.size < HIERARCHY_RECORD_BYTES) throw invalid(`node ${place.name}: its chunk has ${span.size} bytes`);
      chunks.push({ ...span, root: place });
      continue;
    }
    if (type !== INNER && type !== LEAF) throw invalid(`node ${place.name} has the unknown type ${type}`);
    nodes.push(node(place, view.getUint32(at + 2, true), span, metadata));
    const childMask = view.getUint8(at + 1);
    for (let child = 0; child < 8; child += 1) {
      if (childMask & (1 << child)) queue.push(childPlace(place, child));
    }
  }
}

function node(
  place: Place,
  pointCount: number,
  span: { offset: number; size: number },
  metadata: OctreeMetadata,
): OctreeNode {
  if (span.size !== pointCount * metadata.record_bytes) {
    throw invalid(
      `node ${place.name} has ${pointCount} points in ${span.size} bytes, but a point has ${metadata.record_bytes} bytes`,
    );
  }
  return { ...place, byte_offset: span.offset, byte_size: span.size, point_count: pointCount };
}

function safeInteger(view: DataView, at: number, place: Place): number {
  const value = view.getBigInt64(at, true);
  if (value < 0n || value > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalid(`node ${place.name} has the offset or size ${value}`);
  }
  return Number(value);
}

function childPlace(parent: Place, child: number): Place {
  if (parent.level >= MAX_LEVEL) throw invalid(`node ${parent.name} is deeper than ${MAX_LEVEL} levels`);
  const { min, max } = parent.bounds;
  const upper = [(child & 4) !== 0, (child & 2) !== 0, (child & 1) !== 0] as const;
  const middle = [0, 1, 2].map((axis) => ((min[axis] ?? 0) + (max[axis] ?? 0)) / 2) as unknown as Triple;
  const pick = (axis: 0 | 1 | 2, isMax: boolean) => {
    if (isMax) return upper[axis] ? max[axis] : middle[axis];
    return upper[axis] ? middle[axis] : min[axis];
  };
  return {
    name: parent.name + child,
    level: parent.level + 1,
    bounds: {
      min: [pick(0, false), pick(1, false), pick(2, false)],
      max: [pick(0, true), pick(1, true), pick(2, true)],
    },
  };
}
