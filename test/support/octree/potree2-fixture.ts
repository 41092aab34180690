import { ELEMENT_BYTES, type ElementType } from "../../../shared/octree/potree2-metadata.ts";

export interface FixtureAttribute {
  readonly name: string;
  readonly type: ElementType;
  readonly elements: number;
}

/** One node of a hand-made octree: its name and, per point, stored integers x y z and the attributes' elements. */
export interface FixtureNode {
  readonly name: string;
  readonly points: readonly (readonly number[])[];
}

export interface FixtureOctree {
  readonly metadata: Record<string, unknown>;
  readonly hierarchy: Uint8Array;
  readonly octree: Uint8Array;
  files(): Readonly<Record<string, Uint8Array>>;
}

export interface FixtureOptions {
  readonly nodes: readonly FixtureNode[];
  readonly attributes?: readonly FixtureAttribute[];
  readonly scale?: number;
  readonly offset?: readonly [number, number, number];
  readonly size?: number;
  /** Names of the nodes whose subtree lies in a chunk of its own. */
  readonly proxies?: readonly string[];
}

const RECORD = 22;

/** Writes the three files of a Potree 2 octree, slow and obvious. Parents must be listed or empty ones are made. */
export function makeOctree(options: FixtureOptions): FixtureOctree {
  const { nodes, attributes = [], scale = 0.001, offset = [0, 0, 0], size = 8, proxies = [] } = options;
  const layout: FixtureAttribute[] = [{ name: "position", type: "int32", elements: 3 }, ...attributes];
  const { bytes, spans } = pointBytes(nodes, layout);
  const names = new Set(["r", ...nodes.map(({ name }) => name)]);
  const hierarchy = hierarchyBytes(names, spans, proxies);
  const metadata = {
    version: "2.0",
    name: "fixture",
    description: "",
    points: nodes.reduce((sum, { points }) => sum + points.length, 0),
    projection: "",
    hierarchy: { firstChunkSize: hierarchy.firstChunkSize, stepSize: 4, depth: 1 },
    offset,
    scale: [scale, scale, scale],
    spacing: size / 128,
    boundingBox: { min: offset, max: offset.map((value) => value + size) },
    encoding: "DEFAULT",
    attributes: layout.map(({ name, type, elements }) => ({
      name,
      description: "",
      size: elements * ELEMENT_BYTES[type],
      numElements: elements,
      elementSize: ELEMENT_BYTES[type],
      type,
      min: Array(elements).fill(0),
      max: Array(elements).fill(1),
    })),
  };
  return {
    metadata,
    hierarchy: hierarchy.bytes,
    octree: bytes,
    files: () => ({
      "metadata.json": new TextEncoder().encode(JSON.stringify(metadata)),
      "hierarchy.bin": hierarchy.bytes,
      "octree.bin": bytes,
    }),
  };
}

function pointBytes(nodes: readonly FixtureNode[], layout: readonly FixtureAttribute[]) {
  const stride = layout.reduce((sum, { type, elements }) => sum + elements * ELEMENT_BYTES[type], 0);
  const bytes = new Uint8Array(nodes.reduce((sum, { points }) => sum + points.length * stride, 0));
  const view = new DataView(bytes.buffer);
  const spans = new Map<string, { offset: number; size: number; count: number }>();
  let at = 0;
  for (const { name, points } of nodes) {
    spans.set(name, { offset: at, size: points.length * stride, count: points.length });
    for (const point of points) {
      let k = 0;
      for (const { type, elements } of layout) {
        for (let e = 0; e < elements; e += 1, k += 1) {
          write(view, at, type, point[k] ?? 0);
          at += ELEMENT_BYTES[type];
        }
      }
    }
  }
  return { bytes, spans };
}

function write(view: DataView, at: number, type: ElementType, value: number): void {
  const writers: Record<ElementType, () => void> = {
    int8: () => view.setInt8(at, value),
    uint8: () => view.setUint8(at, value),
    int16: () => view.setInt16(at, value, true),
    uint16: () => view.setUint16(at, value, true),
    int32: () => view.setInt32(at, value, true),
    uint32: () => view.setUint32(at, value, true),
    int64: () => view.setBigInt64(at, BigInt(value), true),
    uint64: () => view.setBigUint64(at, BigInt(value), true),
    float: () => view.setFloat32(at, value, true),
    double: () => view.setFloat64(at, value, true),
  };
  writers[type]();
}

function hierarchyBytes(
  names: ReadonlySet<string>,
  spans: ReadonlyMap<string, { offset: number; size: number; count: number }>,
  proxies: readonly string[],
) {
  const children = (name: string) => [0, 1, 2, 3, 4, 5, 6, 7].filter((digit) => names.has(name + digit));
  const chunkRoots = ["r", ...proxies];
  const chunks = chunkRoots.map((root) => {
    const list = [root];
    for (const name of list) {
      if (name !== root && proxies.includes(name)) continue;
      list.push(...children(name).map((digit) => name + digit));
    }
    return list;
  });
  const starts = chunks.map((_, k) => chunks.slice(0, k).reduce((sum, { length }) => sum + length * RECORD, 0));
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length * RECORD, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [k, list] of chunks.entries()) {
    for (const name of list) {
      const proxy = name === chunkRoots[k] ? -1 : chunkRoots.indexOf(name);
      const span = spans.get(name) ?? { offset: 0, size: 0, count: 0 };
      const digits = children(name);
      view.setUint8(at, proxy >= 0 ? 2 : digits.length > 0 ? 0 : 1);
      view.setUint8(
        at + 1,
        digits.reduce((mask, digit) => mask | (1 << digit), 0),
      );
      view.setUint32(at + 2, span.count, true);
      view.setBigInt64(at + 6, BigInt(proxy >= 0 ? (starts[proxy] ?? 0) : span.offset), true);
      view.setBigInt64(at + 14, BigInt(proxy >= 0 ? (chunks[proxy]?.length ?? 0) * RECORD : span.size), true);
      at += RECORD;
    }
  }
  return { bytes, firstChunkSize: (chunks[0]?.length ?? 0) * RECORD };
}
