import type { Client } from "../../../shared/client/index.ts";
import { AppError } from "../../../shared/errors.ts";
import { MIB } from "../../../shared/limits.ts";
import { decodeRecords, type PointRecords } from "../../../shared/octree/point-records.ts";
import { type OctreeNode, parseHierarchy } from "../../../shared/octree/potree2.ts";
import { type OctreeMetadata, parseMetadata } from "../../../shared/octree/potree2-metadata.ts";
import type { PointSample } from "../drawing/point-sample.ts";

/** Largest size of one request, and largest gap between nodes that a request includes. */
const SPAN_BYTES = 16 * MIB;
const GAP_BYTES = 256 * 1024;
const ATTRIBUTES = ["rgb", "intensity", "ground_class", "noise_class"] as const;

export interface OctreePointsOptions {
  /** Largest number of points to load. */
  readonly budget: number;
  /** A scalar column to load as `value`. */
  readonly value?: string;
  readonly signal?: AbortSignal;
  /** Called with the number of points loaded and to load. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface OctreePoints {
  readonly metadata: OctreeMetadata;
  readonly sample: PointSample;
}

/** Consecutive complete point records of one node. */
interface Piece {
  readonly offset: number;
  readonly point_count: number;
  /** Number of records to keep. */
  readonly keep_count: number;
}

/**
 * Loads points of an octree from the service: complete levels from the root while they fit the budget, then an equal
 * share of every node of the next level.
 * Errors: invalid_file for a damaged octree, those of the client, CanceledError if the signal aborts.
 */
export async function loadOctreePoints(
  client: Pick<Client, "octreeFile">,
  cacheId: string,
  options: OctreePointsOptions,
): Promise<OctreePoints> {
  const call = options.signal ? { signal: options.signal } : {};
  const text = await client.octreeFile(cacheId, "metadata.json", undefined, call);
  const metadata = parseMetadata(new TextDecoder().decode(text));
  const nodes = parseHierarchy(await client.octreeFile(cacheId, "hierarchy.bin", undefined, call), metadata);
  const pieces = choosePieces(nodes, metadata, options.budget);
  const total = pieces.reduce((sum, { keep_count }) => sum + keep_count, 0);
  const sink = new SampleSink(total, metadata, options.value);
  const wanted = options.value === undefined ? ATTRIBUTES : [...ATTRIBUTES, options.value];
  for (const span of mergeSpans(pieces, metadata)) {
    const range = { start: span.start, end: span.end - 1 };
    const bytes = await client.octreeFile(cacheId, "octree.bin", range, call);
    if (bytes.length !== span.end - span.start) {
      throw new AppError(
        "invalid_file",
        `octree.bin: bytes ${span.start} to ${span.end - 1} arrived as ${bytes.length} bytes; build the octree again`,
      );
    }
    for (const { offset, point_count, keep_count } of span.pieces) {
      const at = offset - span.start;
      const records = bytes.subarray(at, at + point_count * metadata.record_bytes);
      sink.add(decodeRecords(records, metadata, wanted), keep_count);
    }
    options.onProgress?.(sink.count, total);
  }
  return { metadata, sample: sink.finish() };
}

function choosePieces(nodes: readonly OctreeNode[], metadata: OctreeMetadata, budget: number): Piece[] {
  const levels: OctreeNode[][] = [];
  for (const node of nodes) {
    levels[node.level] ??= [];
    levels[node.level]?.push(node);
  }
  const pieces: Piece[] = [];
  let left = budget;
  for (const level of levels) {
    const points = (level ?? []).reduce((sum, node) => sum + node.point_count, 0);
    const share = points > left ? left / points : 1;
    // The rounding error is carried to the next node; otherwise all small nodes would round down to 0.
    let owed = 0;
    for (const node of level ?? []) {
      for (const piece of cutNode(node, metadata.record_bytes)) {
        owed += piece.point_count * share;
        const keep = share === 1 ? piece.point_count : Math.min(piece.point_count, Math.floor(owed));
        owed -= keep;
        if (keep > 0) pieces.push({ ...piece, keep_count: keep });
      }
    }
    if (share < 1) break;
    left -= points;
  }
  return pieces;
}

/** Cuts a node into pieces of complete records that fit one request. */
function* cutNode(node: OctreeNode, recordBytes: number): Generator<Omit<Piece, "keep_count">> {
  const most = Math.floor(SPAN_BYTES / recordBytes);
  for (let first = 0; first < node.point_count; first += most) {
    yield { offset: node.byte_offset + first * recordBytes, point_count: Math.min(most, node.point_count - first) };
  }
}

/** Groups pieces into requests, in file order. */
function mergeSpans(pieces: readonly Piece[], metadata: OctreeMetadata) {
  const spans: { start: number; end: number; pieces: Piece[] }[] = [];
  for (const piece of pieces.toSorted((a, b) => a.offset - b.offset)) {
    const end = piece.offset + piece.point_count * metadata.record_bytes;
    const last = spans.at(-1);
    if (last && piece.offset < last.end) {
      throw new AppError("invalid_file", `hierarchy.bin: two nodes share byte ${piece.offset} of octree.bin`);
    }
    if (last && piece.offset - last.end <= GAP_BYTES && end - last.start <= SPAN_BYTES) {
      last.end = end;
      last.pieces.push(piece);
    } else {
      spans.push({ start: piece.offset, end, pieces: [piece] });
    }
  }
  return spans;
}

/** Collects rows as they arrive. */
class SampleSink {
  count = 0;
  readonly #position: Float64Array;
  readonly #rgb: Uint16Array | undefined;
  readonly #intensity: Float32Array | undefined;
  readonly #ground: Uint8Array | undefined;
  readonly #noise: Uint8Array | undefined;
  readonly #value: Float32Array | undefined;
  readonly #name: string;
  readonly #total: number;

  constructor(capacity: number, metadata: OctreeMetadata, value = "") {
    const has = (name: string, elements: number) =>
      metadata.attributes.some((attribute) => attribute.name === name && attribute.num_elements === elements);
    this.#position = new Float64Array(3 * capacity);
    this.#rgb = has("rgb", 3) ? new Uint16Array(3 * capacity) : undefined;
    this.#intensity = has("intensity", 1) ? new Float32Array(capacity) : undefined;
    this.#ground = has("ground_class", 1) ? new Uint8Array(capacity) : undefined;
    this.#noise = has("noise_class", 1) ? new Uint8Array(capacity) : undefined;
    this.#name = value;
    this.#value = has(value, 1) ? new Float32Array(capacity) : undefined;
    this.#total = metadata.point_count;
  }

  /** Keeps `keep` of the records, evenly spaced in their order. */
  add(records: PointRecords, keep: number): void {
    const rgb = records.attributes.get("rgb");
    const intensity = records.attributes.get("intensity");
    const ground = records.attributes.get("ground_class");
    const noise = records.attributes.get("noise_class");
    const value = records.attributes.get(this.#name);
    const step = records.point_count / keep;
    for (let k = 0; k < keep; k += 1) {
      const from = keep === records.point_count ? k : Math.floor((k + 0.5) * step);
      const to = this.count + k;
      for (let axis = 0; axis < 3; axis += 1) {
        this.#position[3 * to + axis] = records.position[3 * from + axis] ?? 0;
        if (rgb && this.#rgb) this.#rgb[3 * to + axis] = Number(rgb[3 * from + axis] ?? 0);
      }
      if (intensity && this.#intensity) this.#intensity[to] = Number(intensity[from] ?? 0);
      if (ground && this.#ground) this.#ground[to] = Number(ground[from] ?? 0);
      if (value && this.#value) this.#value[to] = Number(value[from] ?? Number.NaN);
      if (noise && this.#noise) this.#noise[to] = Number(noise[from] ?? 0);
    }
    this.count += keep;
  }

  finish(): PointSample {
    const rgb = this.#rgb;
    // Colours have 16 bits. If all are below 256, the writer stored 8-bit values.
    const shift = rgb?.some((value) => value > 255) ? 8 : 0;
    return {
      point_count: this.count,
      total_count: this.#total,
      position: this.#position,
      rgb: rgb && Uint8Array.from(rgb, (value) => value >> shift),
      intensity: this.#intensity,
      value: this.#value,
      ground: this.#ground,
      noise: this.#noise,
    };
  }
}
