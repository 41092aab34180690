import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  Group,
  InstancedMesh,
  Matrix4,
  MeshLambertMaterial,
} from "three";
import type { PlantInput } from "../cloud-view.ts";
import { meshGroup } from "./meshes.ts";

type Floats = Float32Array | undefined;

/** A plant: its mesh, or its prototypes at their instances. Coordinates are relative to the input's origin. */
export function plantGroup(plant: PlantInput): Group {
  const { buffers, prototype_first_triangle: first } = plant;
  const vertices = buffers.vertices as Floats;
  if (vertices) {
    const colours = buffers.colors as Floats;
    const normals = buffers.normals as Floats;
    return meshGroup({ vertices, ...(normals ? { normals } : {}), ...(colours ? { colours } : {}) });
  }
  const group = new Group();
  if (!first) return group;
  const prototypes = first.slice(0, -1).map((start, i) => prototypeGeometry(plant, start, first[i + 1] ?? start));
  const { instance_prototype: of = new Uint32Array(), instance_matrix: matrices = new Float32Array() } = buffers;
  const counts = prototypes.map(() => 0);
  for (const prototype of of) counts[prototype] = (counts[prototype] ?? 0) + 1;
  const meshes = prototypes.map((geometry, i) => {
    const material = new MeshLambertMaterial({ side: DoubleSide, vertexColors: geometry.hasAttribute("color") });
    const mesh = new InstancedMesh(geometry, material, counts[i] ?? 0);
    group.add(mesh);
    return mesh;
  });
  const placedSoFar = prototypes.map(() => 0);
  for (const [i, prototype] of of.entries()) {
    const mesh = meshes[prototype];
    if (!mesh) continue;
    const at = placedSoFar[prototype] ?? 0;
    placedSoFar[prototype] = at + 1;
    mesh.setMatrixAt(at, rowMajor(matrices, 12 * i));
  }
  for (const mesh of meshes) mesh.computeBoundingSphere();
  return group;
}

/** A 3 x 4 matrix, row by row. */
function rowMajor(list: ArrayLike<number>, at: number): Matrix4 {
  const m = (i: number) => list[at + i] ?? 0;
  return new Matrix4().set(m(0), m(1), m(2), m(3), m(4), m(5), m(6), m(7), m(8), m(9), m(10), m(11), 0, 0, 0, 1);
}

/** The triangles from `start` to `end` of the prototypes. */
function prototypeGeometry({ buffers }: PlantInput, start: number, end: number): BufferGeometry {
  const part = (name: string): Floats => (buffers[name] as Floats)?.slice(9 * start, 9 * end);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(part("prototype_vertices") ?? new Float32Array(), 3));
  const normals = part("prototype_normals");
  if (normals) geometry.setAttribute("normal", new BufferAttribute(normals, 3));
  else geometry.computeVertexNormals();
  const colours = part("prototype_colors");
  if (colours) {
    const colour = new Color();
    for (let i = 0; i < colours.length; i += 3) {
      colour.setRGB(colours[i] ?? 0, colours[i + 1] ?? 0, colours[i + 2] ?? 0, "srgb");
      colours.set([colour.r, colour.g, colour.b], i);
    }
    geometry.setAttribute("color", new BufferAttribute(colours, 3));
  }
  return geometry;
}
