import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { inverted, moved, movedMesh } from "../../../../backend/cli/meshes/mesh.ts";
import { moveObj } from "../../../../backend/cli/meshes/move-obj.ts";
import { decimalsFor } from "../../../../backend/cli/meshes/obj.ts";
import { type MeshFormat, writeMesh } from "../../../../backend/cli/meshes/write.ts";
import { cube, motion, placed } from "../../../support/cli/surfaces.ts";
import { folderOfTest } from "../../../support/run/folders.ts";

/** What the loaders of three.js, which has no types, return here. */
interface Geometry {
  readonly attributes: Readonly<Record<string, { readonly array: ArrayLike<number>; readonly count: number }>>;
  readonly index: { readonly array: ArrayLike<number> } | null;
}
interface Gltf {
  readonly scene: { updateMatrixWorld(force: boolean): void; traverse(visit: (node: GltfNode) => void): void };
}
interface GltfNode {
  readonly geometry?: Geometry;
  readonly matrixWorld: { readonly elements: readonly number[] };
  readonly userData: Readonly<Record<string, unknown>>;
}
interface Loaders {
  readonly STLLoader: new () => { parse(bytes: ArrayBuffer): Geometry };
  readonly GLTFLoader: new () => { parseAsync(bytes: ArrayBuffer, path: string): Promise<Gltf> };
  readonly PLYLoader: new () => { parse(bytes: ArrayBuffer): Geometry };
}
async function three(): Promise<Loaders> {
  const names = ["STLLoader", "GLTFLoader", "PLYLoader"].map((name) => `three/examples/jsm/loaders/${name}.js`);
  return Object.assign({}, ...(await Promise.all(names.map((name) => import(name))))) as Loaders;
}

const signal = new AbortController().signal;
let folder = "";
beforeEach(() => {
  folder = folderOfTest("write-");
});
async function written(mesh: ReturnType<typeof cube>, format: MeshFormat) {
  const path = join(folder, `mesh.${format}`);
  const result = await writeMesh(mesh, format, path, signal);
  const bytes = readFileSync(path);
  return { ...result, bytes, buffer: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) };
}
const near = (array: ArrayLike<number>) => Array.from(array, (value) => Math.round(value * 1e6) / 1e6 + 0);

/** UTM coordinates with a tenth of a millimetre. */
const FAR = cube([476_000, 5_429_000, 100], [12.3456, 7.0001, -3]);
const [v] = [FAR.vertices];
const place = (i: number) => [0, 1, 2].map((k) => (v[3 * i + k] ?? 0) + (FAR.origin[k] ?? 0));

describe("coordinates keep their digits far from the origin", () => {
  test("PLY has float64", async () => {
    const { bytes, file_shift, warnings } = await written(FAR, "ply");
    expect([file_shift, warnings]).toEqual([null, []]);
    const body = bytes.indexOf("end_header\n") + 11;
    for (let i = 0; i < 8; i += 1)
      expect([0, 8, 16].map((at) => bytes.readDoubleLE(body + 24 * i + at))).toEqual(place(i));
    expect(bytes.length).toBe(body + 8 * 24 + 12 * 13);
  });

  test("OBJ has as many decimals as the coordinates", async () => {
    const { bytes, file_shift } = await written(FAR, "obj");
    expect(file_shift).toBeNull();
    const lines = bytes.toString().split("\n");
    const vertices = lines.filter((line) => line.startsWith("v ")).map((line) => line.split(" ").slice(1).map(Number));
    for (let i = 0; i < 8; i += 1)
      for (let k = 0; k < 3; k += 1) expect(Math.abs((vertices[i]?.[k] ?? 0) - (place(i)[k] ?? 0))).toBeLessThan(1e-6);
    expect(lines.filter((line) => line.startsWith("f "))).toHaveLength(12);
    expect(lines.find((line) => line.startsWith("f "))).toBe("f 1 3 4");
  });

  test.each([
    [0, 0],
    [1, 8],
    [1000, 5],
    [1e-3, 11],
  ])("decimals for coordinates up to %d", (largest, decimals) => {
    expect(decimalsFor(largest)).toBe(decimals);
    if (largest > 0)
      expect(Math.fround(Number(Math.fround(largest / 3).toFixed(decimals)))).toBe(Math.fround(largest / 3));
  });

  test("STL is shifted, says so, and names the shift in its header", async () => {
    const { STLLoader } = await three();
    const { bytes, buffer, file_shift, warnings } = await written(FAR, "stl");
    expect(file_shift).toEqual(FAR.origin);
    expect(warnings).toEqual([expect.stringMatching(/^STL stores 24 bits.* relative to 476000, 5429000, 100 m/)]);
    expect(bytes.toString("latin1", 0, 80)).toMatch(/^binary, metres; add 476000 5429000 100\0/);
    const { attributes } = new STLLoader().parse(buffer);
    const corners = [...FAR.indices].flatMap((i) => [...v.slice(3 * i, 3 * i + 3)]);
    expect(Array.from(attributes.position?.array ?? [])).toEqual(corners);
    expect(near(attributes.normal?.array ?? []).slice(0, 3)).toEqual([0, 0, -1]);
  });

  test("GLB is shifted, with y upwards", async () => {
    const { GLTFLoader } = await three();
    const { buffer, file_shift } = await written(FAR, "glb");
    expect(file_shift).toEqual(FAR.origin);
    const { scene } = await new GLTFLoader().parseAsync(buffer, "");
    scene.updateMatrixWorld(true);
    const nodes: GltfNode[] = [];
    scene.traverse((node) => {
      if (node.geometry) nodes.push(node);
    });
    const [node] = nodes;
    expect(node?.userData).toMatchObject({ world_shift: [...FAR.origin] });
    expect(Array.from(node?.geometry?.attributes.position?.array ?? [])).toEqual([...v]);
    expect(Array.from(node?.geometry?.index?.array ?? [])).toEqual([...FAR.indices]);
    // Column-major: z of the mesh becomes y, and y becomes -z.
    expect(near(node?.matrixWorld.elements ?? [])).toEqual([1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
  });
});

test("near the origin, nothing is shifted", async () => {
  const { STLLoader } = await three();
  const mesh = cube([0, 0, 500], [0, 0, 0.25]);
  const { buffer, file_shift, warnings } = await written(mesh, "stl");
  expect([file_shift, warnings]).toEqual([null, []]);
  const position = new STLLoader().parse(buffer).attributes.position?.array ?? [];
  expect(Math.min(...Array.from(position).filter((_, i) => i % 3 === 2))).toBe(500.25);
});

test("colours and normals are written", async () => {
  const { PLYLoader } = await three();
  const mesh = {
    ...cube(),
    normals: new Float32Array(24).fill(0.5),
    colors: new Float32Array(24).fill(1).fill(Number.NaN, 0, 3),
  };
  const { attributes, index } = new PLYLoader().parse((await written(mesh, "ply")).buffer);
  expect(Array.from(attributes.position?.array ?? [])).toEqual([...mesh.vertices]);
  expect(Array.from(attributes.normal?.array ?? [])).toEqual([...mesh.normals]);
  expect(Array.from(index?.array ?? [])).toEqual([...mesh.indices]);
  const colors = Array.from(attributes.color?.array ?? []);
  expect(colors).toEqual([154, 154, 154, ...Array(21).fill(255)]); // without a colour: light grey, 204, here in linear light
  expect((await written(mesh, "obj")).bytes.toString()).toContain("f 1//1 3//3 4//4\n");
});

test("a mesh far away is moved without losing digits, and back again", () => {
  const matrix = motion(0.4, 0.1, [100, -50, 3]);
  const there = movedMesh(matrix, FAR);
  const back = movedMesh(inverted(matrix), there);
  for (let i = 0; i < 8; i += 1) {
    const at = (mesh: typeof FAR, k: number) => (mesh.vertices[3 * i + k] ?? 0) + (mesh.origin[k] ?? 0);
    for (let k = 0; k < 3; k += 1) {
      expect(Math.abs(at(there, k) - (placed(matrix, place(i))[k] ?? 0))).toBeLessThan(2e-6);
      expect(Math.abs(at(back, k) - (place(i)[k] ?? 0))).toBeLessThan(4e-6);
    }
  }
  expect(moved(matrix, [1, 2, 3])).toEqual(placed(matrix, [1, 2, 3]));
});

test("an OBJ file is moved line by line: only its vertices and normals change", async () => {
  const source = join(folder, "a.obj");
  const lines = [
    "# 1 2 3",
    "mtllib my lib.mtl",
    "v 1 2 3 0.5 0.25 1",
    " v 4 \\",
    "5 6",
    "vt 0.1 0.2",
    "vn 1 0 0",
    "usemtl x",
    "f 1/1/1 2 -1",
    "v a b c",
  ];
  writeFileSync(source, `${lines.join("\r\n")}\r\n`);
  const path = join(folder, "b.obj");
  const matrix = motion(Math.PI / 2, 0, [10, 0, 0]);
  expect(await moveObj(source, matrix, path, signal)).toEqual(["my lib.mtl"]);
  expect(readFileSync(path, "utf8").split("\n")).toEqual([
    "# 1 2 3",
    "mtllib my lib.mtl",
    "v 8.0000000 1.0000000 3.0000000 0.5 0.25 1",
    "v 5.0000000 4.0000000 6.0000000",
    "vt 0.1 0.2",
    "vn 0.0000000 1.0000000 0.0000000",
    "usemtl x",
    "f 1/1/1 2 -1",
    "v a b c",
    "",
  ]);
});
