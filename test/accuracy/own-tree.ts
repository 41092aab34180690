// A plant of our own species as triangles that tell their internode, and its internodes as cylinders.
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import { expandPlants, instancePlants, placePlant } from "../../backend/native/plants/mesh.ts";
import { growPlant } from "../../backend/native/plants/plants.ts";
import { SpeciesLibrary } from "../../backend/sessions/species-library.ts";
import { codeOf, NO_CYLINDER, SCANNED, Surface } from "./forest/surface.ts";
import { values } from "./native.ts";
import type { Vector } from "./vector.ts";

/** Organ code of internodes; petioles, flowers and fruits have others. */
const SHOOT = 3;
/** Ends of cylinders that are one place, metres. */
const SAME_M = 2e-5;

export interface TreeCylinder {
  /** Metres. */
  readonly start: Vector;
  readonly end: Vector;
  /** At the start and the end, metres. */
  readonly radius: number;
  readonly radius_end: number;
  /** Index of the cylinder that it grows from, -1 = the base. */
  readonly parent: number;
  /** 0 = stem, 1 = branches of it, and so on. */
  readonly rank: number;
}

function taken(column: NativeColumn) {
  const out = values(column);
  column.release();
  return out;
}

/** Corners of the lower polygon of a tube prototype: different places at z = 0. */
function sidesOf(vertices: ArrayLike<number>, first: number, end: number): number {
  const corners = new Set<string>();
  for (let at = 9 * first; at < 9 * end; at += 3)
    if (Math.abs(vertices[at + 2] ?? 0) < 1e-6)
      corners.add(`${(vertices[at] ?? 0).toFixed(4)},${(vertices[at + 1] ?? 0).toFixed(4)}`);
  return corners.size;
}

/** Start, end and radius at the start of a tube segment: its matrix maps a prism of length 1 along z. */
function segmentOf(matrix: ArrayLike<number>, at: number, sides: number) {
  const column = (k: number): Vector => [matrix[at + k] ?? 0, matrix[at + 4 + k] ?? 0, matrix[at + 8 + k] ?? 0];
  const [x, y, z, start] = [column(0), column(1), column(2), column(3)];
  const turn = (2 * Math.PI) / sides;
  // The corners lie outside of the round tube of the same area.
  const round = Math.sqrt(turn / Math.sin(turn));
  const radius = (Math.hypot(...x) + Math.hypot(...y)) / 2 / round;
  const end: Vector = [start[0] + z[0], start[1] + z[1], start[2] + z[2]];
  return { start, end, radius };
}

/** Cylinders in rough cells, to find the one that a shoot grows from. */
class Grown {
  readonly #cells = new Map<string, number[]>();
  static readonly cell_m = 0.1;
  constructor(readonly cylinders: TreeCylinder[]) {}

  #key(x: number, y: number, z: number): string {
    return `${Math.floor(x / Grown.cell_m)},${Math.floor(y / Grown.cell_m)},${Math.floor(z / Grown.cell_m)}`;
  }
  add(cylinder: TreeCylinder): void {
    const { start, end } = cylinder;
    const steps = Math.ceil(Math.hypot(end[0] - start[0], end[1] - start[1], end[2] - start[2]) / (Grown.cell_m / 2));
    const keys = new Set<string>();
    for (let k = 0; k <= Math.max(1, steps); k += 1) {
      const t = k / Math.max(1, steps);
      keys.add(
        this.#key(
          start[0] + t * (end[0] - start[0]),
          start[1] + t * (end[1] - start[1]),
          start[2] + t * (end[2] - start[2]),
        ),
      );
    }
    for (const key of keys) this.#cells.set(key, [...(this.#cells.get(key) ?? []), this.cylinders.length]);
    this.cylinders.push(cylinder);
  }
  /** Nearest axis within a cell's reach, -1 = none. */
  nearest(place: Vector): number {
    let [best, nearest] = [-1, Number.POSITIVE_INFINITY];
    for (let k = 0; k < 27; k += 1) {
      const shift = [(k % 3) - 1, (Math.floor(k / 3) % 3) - 1, Math.floor(k / 9) - 1] as const;
      const [x, y, z] = place.map((value, i) => value + (shift[i] ?? 0) * Grown.cell_m) as [number, number, number];
      for (const one of this.#cells.get(this.#key(x, y, z)) ?? []) {
        const distance = axisDistance(place, this.cylinders[one] as TreeCylinder);
        if (distance < nearest) [best, nearest] = [one, distance];
      }
    }
    return best;
  }
}

export function axisDistance(place: Vector, { start, end }: TreeCylinder): number {
  const d: Vector = [end[0] - start[0], end[1] - start[1], end[2] - start[2]];
  const p: Vector = [place[0] - start[0], place[1] - start[1], place[2] - start[2]];
  const length = d[0] ** 2 + d[1] ** 2 + d[2] ** 2;
  const t = length > 0 ? Math.min(1, Math.max(0, (p[0] * d[0] + p[1] * d[1] + p[2] * d[2]) / length)) : 0;
  return Math.hypot(p[0] - t * d[0], p[1] - t * d[1], p[2] - t * d[2]);
}

const isSame = (a: Vector, b: Vector) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) < SAME_M;

/** Adds a segment after the one before it in its tube, or to the nearest one grown. Returns its number. */
function grow(grown: Grown, { start, end, radius }: ReturnType<typeof segmentOf>): number {
  const { cylinders } = grown;
  const before = cylinders.length - 1;
  const last = cylinders[before];
  if (last && isSame(last.end, start)) {
    (last as { radius_end: number }).radius_end = radius;
    grown.add({ start, end, radius, radius_end: radius, parent: before, rank: last.rank });
  } else {
    const parent = grown.nearest(start);
    const rank = parent < 0 ? 0 : (cylinders[parent] as TreeCylinder).rank + 1;
    grown.add({ start, end, radius, radius_end: radius, parent, rank });
  }
  return cylinders.length - 1;
}

/** Triangles with the codes of scans, and the cylinders of the internodes. Without leaves: internodes alone. */
export async function ownTree(id: string, age_days: number, seed: number, leaves: boolean) {
  const species = await new SpeciesLibrary().find(id);
  if (!species) throw new Error(`no species ${id}`);
  const native = await species.native();
  const plant = await growPlant(native, { age_days, seed, base: [0, 0, 0], leaf_inclination: null }).promise;
  const placed = await placePlant(plant, native).promise;
  const mesh = await expandPlants(placed, [0, 0, 0]).promise;
  const parts = await instancePlants(placed, [0, 0, 0]).promise;
  const shapes = taken(parts.prototypes.vertices);
  const [which, matrix] = [taken(parts.instance_prototype), taken(parts.instance_matrix)];
  const [corners, organs] = [taken(mesh.vertices), taken(mesh.organ_codes)];
  const surface = new Surface();
  const grown = new Grown([]);
  const sides = new Map<number, number>();
  let triangle = 0;
  for (const [i, prototype] of which.entries()) {
    const p = Number(prototype);
    const [first, end] = [parts.prototype_firsts[p] ?? 0, parts.prototype_firsts[p + 1] ?? 0];
    const isShoot = organs[triangle] === SHOOT;
    let cylinder = NO_CYLINDER;
    if (isShoot) {
      const known = sides.get(p) ?? sidesOf(shapes as Float32Array, first, end);
      sides.set(p, known);
      cylinder = grow(grown, segmentOf(matrix as Float32Array, 12 * i, known));
    }
    const code = codeOf(1, cylinder);
    for (const last = triangle + end - first; triangle < last; triangle += 1) {
      if (!isShoot && !leaves) continue;
      const [a, b, c] = [0, 3, 6].map((k) => {
        const at = 9 * triangle + k;
        return surface.vertex([Number(corners[at]), Number(corners[at + 1]), Number(corners[at + 2])], code);
      }) as [number, number, number];
      surface.triangle(a, b, c, isShoot ? SCANNED.wood : SCANNED.leaf);
    }
  }
  if (triangle !== organs.length) throw new Error(`${id}: ${triangle} of ${organs.length} triangles were named`);
  for (const one of [mesh, parts.prototypes])
    for (const column of [one.normals, one.colors, one.uvs, one.indices, one.triangle_material]) column?.release();
  for (const one of [parts.prototypes.organ_codes, parts.instance_plant, placed, plant]) one.release();
  return { surface, cylinders: grown.cylinders };
}
