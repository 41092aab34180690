// A plant of our own species as triangles whose leaves are known one by one.
import { expandPlants, instancePlants, placePlant } from "../../backend/native/plants/mesh.ts";
import { growPlant } from "../../backend/native/plants/plants.ts";
import type { SurfaceLists } from "../../backend/native/ray.ts";
import type { VoxelBox } from "../../backend/native/surfaces.ts";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { NO_SURFACE } from "./forest/surface.ts";
import { column, values } from "./native.ts";
import { uniform } from "./random.ts";
import type { Vector } from "./vector.ts";

/** Organ codes of a plant. */
export const ORGAN = { leaf: 1, shoot: 3 } as const;

export interface LeafyTree {
  /** 9 coordinates of each triangle, metres. */
  readonly corners: Float64Array;
  /** Organ code of each triangle. */
  readonly organs: Uint8Array;
  /** The organ that each triangle belongs to; triangles of one follow each other. */
  readonly parts: Uint32Array;
}

type Grid = Pick<VoxelBox, "center" | "size" | "nx" | "ny" | "nz">;

export async function leafyTree(id: string, age_days: number, seed: number): Promise<LeafyTree> {
  const species = await new SpeciesLibrary().find(id);
  if (!species) throw new Error(`no species ${id}`);
  const native = await species.native();
  const plant = await growPlant(native, { age_days, seed, base: [0, 0, 0], leaf_inclination: null }).promise;
  const placed = await placePlant(plant, native).promise;
  const mesh = await expandPlants(placed, [0, 0, 0]).promise;
  const { prototypes, prototype_firsts, instance_prototype } = await instancePlants(placed, [0, 0, 0]).promise;
  const organs = Uint8Array.from(values(mesh.organ_codes) as Uint8Array);
  const parts = new Uint32Array(organs.length);
  let triangle = 0;
  for (const [i, prototype] of values(instance_prototype).entries()) {
    const p = Number(prototype);
    const count = (prototype_firsts[p + 1] ?? 0) - (prototype_firsts[p] ?? 0);
    parts.fill(i, triangle, triangle + count);
    triangle += count;
  }
  if (triangle !== organs.length) throw new Error(`${id}: ${triangle} of ${organs.length} triangles were named`);
  const corners = Float64Array.from(values(mesh.vertices) as Float32Array);
  for (const one of [mesh, prototypes])
    for (const held of [one.vertices, one.normals, one.colors, one.uvs, one.indices, one.triangle_material])
      held?.release();
  return { corners, organs, parts };
}

/** The triangles of some organs alone. */
export function onlyOf(tree: LeafyTree, isKept: (organ: number) => boolean): LeafyTree {
  const kept = Uint32Array.from(tree.organs.keys()).filter((t) => isKept(tree.organs[t] ?? 0));
  const corners = new Float64Array(9 * kept.length);
  for (const [to, t] of kept.entries()) corners.set(tree.corners.subarray(9 * t, 9 * t + 9), 9 * to);
  return { corners, organs: pick(tree.organs, kept), parts: pick(tree.parts, kept) };
}

const pick = <A extends Uint8Array | Uint32Array>(of: A, rows: Uint32Array): A => {
  const out = of.slice(0, rows.length) as A;
  for (const [to, row] of rows.entries()) out[to] = of[row] ?? 0;
  return out;
};

export function surfaceOf({ corners, organs }: LeafyTree): SurfaceLists {
  return {
    ...NO_SURFACE,
    vertices: column("vec3d", corners),
    triangles: column(
      "f64",
      Float64Array.from({ length: corners.length / 3 }, (_, i) => i),
    ),
    organs: column("f64", Float64Array.from(organs)),
  };
}

export function boundsOf({ corners }: LeafyTree): { min: Vector; max: Vector } {
  const min: [number, number, number] = [Infinity, Infinity, Infinity];
  const max: [number, number, number] = [-Infinity, -Infinity, -Infinity];
  for (const [i, value] of corners.entries()) {
    const axis = (i % 3) as 0 | 1 | 2;
    min[axis] = Math.min(min[axis], value);
    max[axis] = Math.max(max[axis], value);
  }
  return { min, max };
}

/** Twice the area of a triangle times its normal. */
export function crossOf(corners: Float64Array, t: number): Vector {
  const at = (k: number) => corners[9 * t + k] ?? 0;
  const [ax, ay, az] = [at(3) - at(0), at(4) - at(1), at(5) - at(2)];
  const [bx, by, bz] = [at(6) - at(0), at(7) - at(1), at(8) - at(2)];
  return [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
}

/** Area of the triangles, one-sided, square metres. */
export const areaOf = ({ corners, organs }: LeafyTree): number =>
  organs.reduce((sum, _, t) => sum + Math.hypot(...crossOf(corners, t)) / 2, 0);

const middleOf = (corners: Float64Array, t: number): Vector =>
  [0, 1, 2].map((k) => [0, 3, 6].reduce((sum, corner) => sum + (corners[9 * t + corner + k] ?? 0) / 3, 0)) as [
    number,
    number,
    number,
  ];

/** Mean projection of the triangles towards places, weighed by area. */
export function meanProjection({ corners, organs }: LeafyTree, places: readonly Vector[]): number {
  let [sum, whole] = [0, 0];
  for (const t of organs.keys()) {
    const [normal, middle] = [crossOf(corners, t), middleOf(corners, t)];
    for (const place of places) {
      const d = middle.map((value, k) => value - (place[k] ?? 0));
      const range = Math.hypot(...d);
      sum += Math.abs(d.reduce((dot, value, k) => dot + value * (normal[k] ?? 0), 0)) / range;
      whole += Math.hypot(...normal);
    }
  }
  return sum / whole;
}

/** The organs moved as they are, each from its place to a random one in the same voxel. */
export function scattered(tree: LeafyTree, { center, size, nx, ny, nz }: Grid, seed: number): LeafyTree {
  const next = uniform(seed * 613 + 7);
  const corners = tree.corners.slice();
  const counts = [nx, ny, nz];
  for (let first = 0, end = 0; first < tree.parts.length; first = end) {
    while (end < tree.parts.length && tree.parts[end] === tree.parts[first]) end += 1;
    for (const axis of [0, 1, 2] as const) {
      let [sum, count] = [0, 0];
      for (let i = 9 * first + axis; i < 9 * end; i += 3, count += 1) sum += corners[i] ?? 0;
      const edge = size[axis] / (counts[axis] ?? 1);
      const low = center[axis] - size[axis] / 2;
      const cell = Math.floor((sum / count - low) / edge);
      const shift = low + (cell + next()) * edge - sum / count;
      for (let i = 9 * first + axis; i < 9 * end; i += 3) corners[i] = (corners[i] ?? 0) + shift;
    }
  }
  return { ...tree, corners };
}
