// Orchards of the service's own trees: what each tree measures, and meshes whose points tell their tree.
import type { Client } from "../../shared/client/index.ts";

export interface OrchardPlan {
  readonly species: string;
  readonly age_days: number;
  /** Along rows and between them, metres, and trees along both. */
  readonly spacing: readonly [number, number];
  readonly count: readonly [number, number];
}

export interface OrchardTree {
  /** Middle of the lower end of the trunk, metres; the ground is z = 0. */
  readonly x: number;
  readonly y: number;
  readonly height_m: number;
  /** Diameter of the trunk at TRUNK_PART of the height, metres. */
  readonly trunk_m: number;
}

export interface Orchard {
  readonly trees: readonly OrchardTree[];
  /** In the form that lidarScan takes, once for each digit: the organ code of tree k is 1 plus that digit of k, that of the ground 0. */
  readonly meshes: readonly (readonly object[])[];
}

const SHOOT = 3;
/** Of the height of a tree: where its trunk is measured. */
export const TRUNK_PART = 0.1;
/** Internodes above the lowest one within this distance are the trunk, metres. */
const NEAR_M = 0.1;
/** Organ codes of a scan are 0 to 6. */
export const BASE = 6;

/** The tree of codes of both digits, from 1 on; 0 = the ground. */
export const treeOfCodes = (low: number, high: number) => (low === 0 ? 0 : low + BASE * (high - 1));

interface Lists {
  readonly corners: ArrayLike<number>;
  readonly organs: ArrayLike<number>;
  readonly prototypes: ArrayLike<number>;
  readonly matrices: ArrayLike<number>;
  readonly firsts: readonly number[];
}

/** Highest point of an instance, and what it is if it is an internode. */
function measured({ corners, organs, prototypes, matrices, firsts }: Lists, instance: number) {
  const prototype = prototypes[instance] ?? 0;
  const [first, end] = [firsts[prototype] ?? 0, firsts[prototype + 1] ?? 0];
  const m = (row: number, column: number) => matrices[12 * instance + 4 * row + column] ?? 0;
  let [top, around, count] = [-Infinity, 0, 0];
  for (let at = 9 * first; at < 9 * end; at += 3) {
    const [x = 0, y = 0, z = 0] = [corners[at], corners[at + 1], corners[at + 2]];
    top = Math.max(top, m(2, 0) * x + m(2, 1) * y + m(2, 2) * z + m(2, 3));
    around += Math.hypot(x * Math.hypot(m(0, 0), m(1, 0), m(2, 0)), y * Math.hypot(m(0, 1), m(1, 1), m(2, 1)));
    count += 1;
  }
  const shoot = { x: m(0, 3), y: m(1, 3), z: m(2, 3), diameter_m: (2 * around) / count };
  return { top, shoot: organs[first] === SHOOT ? shoot : null };
}

/** An internode, by the middle of its lower end. */
interface Shoot {
  readonly x: number;
  readonly y: number;
  readonly z: number;
  readonly diameter_m: number;
}

function treeOf({ height_m, shoots }: { readonly height_m: number; readonly shoots: readonly Shoot[] }): OrchardTree {
  const base = shoots.reduce((low, shoot) => (shoot.z < low.z ? shoot : low));
  const below = shoots.filter(
    (one) => one.z <= TRUNK_PART * height_m && Math.hypot(one.x - base.x, one.y - base.y) < NEAR_M,
  );
  const trunk = below.reduce((high, shoot) => (shoot.z > high.z ? shoot : high), base);
  return { x: base.x, y: base.y, height_m, trunk_m: trunk.diameter_m };
}

export function groundOf(side: number) {
  const half = side / 2;
  const vertices = [
    [-half, -half, 0],
    [half, -half, 0],
    [half, half, 0],
    [-half, half, 0],
  ];
  const triangles = [
    [0, 1, 2],
    [0, 2, 3],
  ];
  return { vertices, triangles, organ_codes: [0, 0] };
}

/** Grows an orchard through the service, and adds flat ground. */
export async function growOrchard(
  { species, age_days, spacing, count }: OrchardPlan,
  client: Client,
): Promise<Orchard> {
  const { meta, buffers } = await client.generateCanopy({
    ...{ plant_type: species, age: age_days, random_seed: 7, instances: true },
    ...{ spacing_x: spacing[0], spacing_y: spacing[1], count_x: count[0], count_y: count[1] },
  });
  const list = (name: string) => (buffers as ReadonlyMap<string, ArrayLike<number>>).get(name) ?? [];
  const firsts = meta.prototype_first_triangle ?? [];
  const lists = {
    ...{ corners: list("prototype_vertices"), organs: list("prototype_organ_codes"), firsts },
    ...{ prototypes: list("instance_prototype"), matrices: list("instance_matrix") },
  };
  const plants = Array.from(list("instance_plant"));
  const numbers = [...new Set(plants)];
  const tree_of = plants.map((plant) => numbers.indexOf(plant));
  const parts = numbers.map(() => ({ height_m: 0, shoots: [] as Shoot[] }));
  for (const [i, k] of tree_of.entries()) {
    const { top, shoot } = measured(lists, i);
    const part = parts[k];
    if (!part) continue;
    part.height_m = Math.max(part.height_m, top);
    if (shoot) part.shoots.push(shoot);
  }
  const trees = parts.map(treeOf);
  // Prototypes of its own for each tree, as the codes of organs belong to them.
  const [triangles, prototypes] = [firsts.at(-1) ?? 0, firsts.length - 1];
  const repeated = (name: string, step = 0) => {
    const values = buffers.get(name as never) as Float32Array;
    const made = new (values.constructor as Float32ArrayConstructor)(values.length * trees.length);
    for (const k of trees.keys()) made.set(step === 0 ? values : values.map((v) => v + k * step), k * values.length);
    return made;
  };
  const mesh = {
    prototype_vertices: repeated("prototype_vertices"),
    prototype_indices: repeated("prototype_indices", list("prototype_vertices").length / 3),
    prototype_colors: repeated("prototype_colors"),
    prototype_uv_coordinates: repeated("prototype_uv_coordinates"),
    prototype_triangle_materials: repeated("prototype_triangle_materials"),
    prototype_organ_codes: repeated("prototype_organ_codes").map((_, t) => (Math.floor(t / triangles) % BASE) + 1),
    instance_prototype: Uint32Array.from(tree_of, (k, i) => k * prototypes + (lists.prototypes[i] ?? 0)),
    instance_matrix: buffers.get("instance_matrix"),
    prototype_first_triangle: [
      ...trees.flatMap((_, k) => firsts.slice(0, -1).map((t) => k * triangles + t)),
      trees.length * triangles,
    ],
    ...{ origin: meta.origin, materials: meta.materials, textures: meta.textures },
  };
  const side = Math.max(spacing[0] * count[0], spacing[1] * count[1]) + 6;
  const high = mesh.prototype_organ_codes.map((_, t) => Math.floor(t / triangles / BASE) + 1);
  const ground = groundOf(side);
  return {
    trees,
    meshes: [
      [mesh, ground],
      [{ ...mesh, prototype_organ_codes: high }, ground],
    ],
  };
}
