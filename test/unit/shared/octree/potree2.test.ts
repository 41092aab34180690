import { describe, expect, test } from "vitest";
import { decodeRecords } from "../../../../shared/octree/point-records.ts";
import { parseHierarchy } from "../../../../shared/octree/potree2.ts";
import { parseMetadata } from "../../../../shared/octree/potree2-metadata.ts";
import { type FixtureOctree, makeOctree } from "../../../support/octree/potree2-fixture.ts";

const metadataOf = (octree: FixtureOctree, change: (json: Record<string, unknown>) => void = () => undefined) => {
  const json = structuredClone(octree.metadata);
  change(json);
  return parseMetadata(JSON.stringify(json));
};

const threeNodes = makeOctree({
  offset: [100, 200, 300],
  size: 8,
  nodes: [
    { name: "r", points: [[1, 2, 3]] },
    {
      name: "r5",
      points: [
        [5000, 1000, 5000],
        [6000, 1000, 5000],
      ],
    },
    { name: "r53", points: [[4500, 2500, 5500]] },
  ],
});

describe("metadata.json", () => {
  test("gives the record layout with byte offsets", () => {
    const octree = makeOctree({
      nodes: [],
      attributes: [
        { name: "intensity", type: "uint16", elements: 1 },
        { name: "rgb", type: "uint16", elements: 3 },
      ],
    });
    const metadata = metadataOf(octree);
    expect(metadata.record_bytes).toBe(12 + 2 + 6);
    expect(metadata.attributes.map(({ name, byte_offset }) => [name, byte_offset])).toEqual([
      ["position", 0],
      ["intensity", 12],
      ["rgb", 14],
    ]);
  });

  test("a repeated name keeps its first entry and its bytes", () => {
    const position = { name: "position", size: 12, numElements: 3, elementSize: 4, type: "int32" };
    const metadata = metadataOf(threeNodes, (json) => {
      json.attributes = [position, position];
    });
    expect(metadata.attributes).toHaveLength(1);
    expect(metadata.record_bytes).toBe(24);
  });

  test.each([
    ["BROTLI", (json: Record<string, unknown>) => Object.assign(json, { encoding: "BROTLI" }), /encoding/],
    ["a scale of zero", (json: Record<string, unknown>) => Object.assign(json, { scale: [1, 0, 1] }), /scale\.1/],
    [
      "a cut chunk size",
      (json: Record<string, unknown>) => Object.assign(json, { hierarchy: { firstChunkSize: 30 } }),
      /30/,
    ],
    ["a negative count", (json: Record<string, unknown>) => Object.assign(json, { points: -1 }), /points/],
    ["no attributes", (json: Record<string, unknown>) => Object.assign(json, { attributes: [] }), /attributes/],
    [
      "a box turned over",
      (json: Record<string, unknown>) => Object.assign(json, { boundingBox: { min: [1, 0, 0], max: [0, 1, 1] } }),
      /boundingBox/,
    ],
    [
      "sizes that disagree",
      (json: Record<string, unknown>) =>
        Object.assign(json, {
          attributes: [{ name: "position", size: 16, numElements: 3, elementSize: 4, type: "int32" }],
        }),
      /"position".*16/,
    ],
    [
      "coordinates of another type",
      (json: Record<string, unknown>) =>
        Object.assign(json, {
          attributes: [{ name: "position", size: 12, numElements: 3, elementSize: 4, type: "float" }],
        }),
      /int32/,
    ],
  ])("refuses %s", (_, change, message) => {
    expect(() => metadataOf(threeNodes, change)).toThrow(message);
  });

  test("refuses text that is not JSON", () => {
    expect(() => parseMetadata('{"points": inf}')).toThrow(/not JSON/);
  });
});

describe("hierarchy.bin", () => {
  test("names nodes by their octant and halves their cubes", () => {
    const nodes = parseHierarchy(threeNodes.hierarchy, metadataOf(threeNodes));
    expect(nodes.map(({ name, level, point_count }) => [name, level, point_count])).toEqual([
      ["r", 0, 1],
      ["r5", 1, 2],
      ["r53", 2, 1],
    ]);
    // 5 = 101: upper x, lower y, upper z. Then 3 = 011: lower x, upper y, upper z.
    expect(nodes[1]?.bounds).toEqual({ min: [104, 200, 304], max: [108, 204, 308] });
    expect(nodes[2]?.bounds).toEqual({ min: [104, 202, 306], max: [106, 204, 308] });
    expect(nodes.map(({ byte_offset, byte_size }) => [byte_offset, byte_size])).toEqual([
      [0, 12],
      [12, 24],
      [36, 12],
    ]);
  });

  test("follows proxies to their chunks", () => {
    const options = {
      nodes: ["r", "r0", "r7", "r01", "r012", "r70"].map((name) => ({ name, points: [[0, 0, 0]] })),
    };
    const plain = makeOctree(options);
    const chunked = makeOctree({ ...options, proxies: ["r0", "r01", "r7"] });
    expect(chunked.hierarchy.length).toBe(plain.hierarchy.length + 3 * 22);
    const sorted = (octree: FixtureOctree) =>
      parseHierarchy(octree.hierarchy, metadataOf(octree)).sort((a, b) => (a.name < b.name ? -1 : 1));
    expect(sorted(chunked)).toEqual(sorted(plain));
  });

  test("refuses a proxy that points to its own chunk instead of following it for ever", () => {
    const octree = makeOctree({ nodes: [{ name: "r0", points: [] }], proxies: ["r0"] });
    const bytes = octree.hierarchy.slice();
    new DataView(bytes.buffer).setBigInt64(22 + 6, 0n, true); // r0's chunk = the root chunk
    new DataView(bytes.buffer).setBigInt64(22 + 14, 44n, true);
    expect(() => parseHierarchy(bytes, metadataOf(octree))).toThrow(/overlap or form a loop/);
  });

  test("is refused if cut at any byte", () => {
    const metadata = metadataOf(threeNodes);
    for (let length = 0; length < threeNodes.hierarchy.length; length += 1) {
      expect(() => parseHierarchy(threeNodes.hierarchy.slice(0, length), metadata)).toThrow(/hierarchy\.bin/);
    }
  });

  test.each([
    [
      "more points than bytes",
      (view: DataView) => view.setUint32(2, 4_000_000_000, true),
      /4000000000 points in 12 bytes/,
    ],
    ["a negative offset", (view: DataView) => view.setBigInt64(6, -1n, true), /-1/],
    ["an offset beyond 2^53", (view: DataView) => view.setBigInt64(6, 2n ** 60n, true), /1152921504606846976/],
    ["an unknown node type", (view: DataView) => view.setUint8(0, 9), /unknown type 9/],
    ["a child without a record", (view: DataView) => view.setUint8(45, 0xff), /after the end of its chunk/],
  ])("refuses %s", (_, change, message) => {
    const bytes = threeNodes.hierarchy.slice();
    change(new DataView(bytes.buffer));
    expect(() => parseHierarchy(bytes, metadataOf(threeNodes))).toThrow(message);
  });
});

describe("point records", () => {
  const types = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float", "double"] as const;

  test("positions are integer * scale + offset, attributes keep type and value", () => {
    const values = [-5, 250, -30000, 60000, -2e9, 4e9, -(2 ** 40), 2 ** 40, 0.5, 1e300];
    const octree = makeOctree({
      offset: [10, 20, 30],
      scale: 0.5,
      attributes: types.map((type) => ({ name: type, type, elements: 1 })),
      nodes: [
        {
          name: "r",
          points: [
            [1, -2, 3, ...values],
            [0, 0, 0, ...values.map(() => 1)],
          ],
        },
      ],
    });
    const records = decodeRecords(octree.octree, metadataOf(octree), [...types, "missing"]);
    expect([...records.position]).toEqual([10.5, 19, 31.5, 10, 20, 30]);
    expect(types.map((type) => Number(records.attributes.get(type)?.[0]))).toEqual(values);
    expect(types.map((type) => Number(records.attributes.get(type)?.[1]))).toEqual(values.map(() => 1));
    expect(records.attributes.has("missing")).toBe(false);
    expect(records.attributes.get("int64")).toBeInstanceOf(BigInt64Array);
  });

  test("elements of one attribute stay together", () => {
    const octree = makeOctree({
      attributes: [{ name: "rgb", type: "uint16", elements: 3 }],
      nodes: [
        {
          name: "r",
          points: [
            [0, 0, 0, 1, 2, 3],
            [0, 0, 0, 4, 5, 6],
          ],
        },
      ],
    });
    const { attributes } = decodeRecords(octree.octree, metadataOf(octree), ["rgb"]);
    expect(attributes.get("rgb")).toEqual(Uint16Array.of(1, 2, 3, 4, 5, 6));
  });

  test("a cut record is refused", () => {
    expect(() => decodeRecords(threeNodes.octree.subarray(0, 13), metadataOf(threeNodes))).toThrow(/13 bytes/);
  });

  test("works on a view that starts inside its buffer", () => {
    const shifted = new Uint8Array(threeNodes.octree.length + 1);
    shifted.set(threeNodes.octree, 1);
    const { position } = decodeRecords(shifted.subarray(1), metadataOf(threeNodes));
    expect([...position.subarray(0, 3)]).toEqual([100.001, 200.002, 300.003]);
  });
});
