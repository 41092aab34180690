// Trees of the forest generator and of our own species as scenes of a scanner, with their wood as cylinders.
import type * as native from "../../backend/native/ray.ts";
import { leavesLeft } from "./bare-branches.ts";
import { crownBaseOf, heightOf, openCrownWidth, standCrownWidth } from "./forest/allometry.ts";
import { SPECIES } from "./forest/species.ts";
import { Numbers, Surface } from "./forest/surface.ts";
import { growTree, type TreePlan } from "./forest/tree.ts";
import { column, coordinatesOf } from "./native.ts";
import { ownTree, type TreeCylinder } from "./own-tree.ts";
import { uniform } from "./random.ts";
import type { Vector } from "./vector.ts";

/** Species of the generated forests; others are those of resources/species. */
export const FOREST_SPECIES = Object.keys(SPECIES) as (keyof typeof SPECIES)[];
/** Woody species of resources/species. */
export const OWN_TREES = [
  "almond",
  "apple",
  "olive",
  "pistachio",
  "walnut",
  "easternredbud",
  "grapevine_VSP",
  "bougainvillea",
] as const;

export interface TreeScanOptions {
  /** One of FOREST_SPECIES or OWN_TREES. */
  readonly species: string;
  readonly seed: number;
  /** Scanners around the tree: 1, 4, 9. */
  readonly positions: number;
  /** Name of a file of resources/scanners. */
  readonly scanner: string;
  /** Degrees between beams over those of the scanner. */
  readonly every: number;
  readonly leaves: boolean;
  /** Of the range, metres; default: the scanner's. */
  readonly range_noise_m?: number;
  /** Of own species, days. */
  readonly age_days?: number;
  /** Share of the shoots of forest species that is gone, in clumps; default 0. */
  readonly bare?: number;
  /** At breast height, of forest species; default: drawn. */
  readonly diameter_m?: number;
}

export interface Shape {
  readonly mesh: native.SceneMesh;
  readonly cylinders: readonly TreeCylinder[];
  /** Of the tree. */
  readonly min: Vector;
  readonly max: Vector;
  readonly triangle_count: number;
}

/** A tree of the forest generator, in more or less company. */
export function forestPlan(species: keyof typeof SPECIES, seed: number, diameter_m?: number): TreePlan {
  const next = uniform(seed * 131 + 5);
  const kind = SPECIES[species];
  const dbh = 100 * (diameter_m ?? 0.07 + 0.45 * next() ** 1.4);
  const height_m = heightOf(kind, dbh) * (0.9 + 0.2 * next());
  const isOpen = next() < 0.4;
  const around = { basal_area: isOpen ? 6 : 15 + 25 * next(), crowns_of_larger: isOpen ? 0 : 60 * next() };
  return {
    id: 1,
    species: kind,
    x: 0,
    y: 0,
    diameter_m: dbh / 100,
    height_m,
    crown_base_m: Math.max(isOpen ? 1 : 1.5, Math.min(0.8 * height_m, crownBaseOf(kind, dbh, height_m, around))),
    crown_radius_m: (isOpen ? openCrownWidth(kind, dbh) : standCrownWidth(kind, dbh)) / 2,
    is_understorey: false,
  };
}

/** A cylinder follows the one before where it begins at its end; branches grow from the nearest place of lower rank. */
function linked(numbers: Float64Array, orders: Uint8Array): TreeCylinder[] {
  const out: TreeCylinder[] = [];
  const at = (i: number): Vector => [numbers[i] ?? 0, numbers[i + 1] ?? 0, numbers[i + 2] ?? 0];
  const nearest = (place: Vector, rank: number): number => {
    let [best, least] = [-1, Number.POSITIVE_INFINITY];
    for (const [k, one] of out.entries()) {
      if (one.rank >= rank) continue;
      const d = Math.hypot(place[0] - one.end[0], place[1] - one.end[1], place[2] - one.end[2]);
      const e = Math.hypot(place[0] - one.start[0], place[1] - one.start[1], place[2] - one.start[2]);
      if (d + e < least) [best, least] = [k, d + e];
    }
    return best;
  };
  for (const [k, rank] of orders.entries()) {
    const [start, end] = [at(8 * k), at(8 * k + 3)];
    const last = out[k - 1];
    const follows =
      last !== undefined &&
      last.rank === rank &&
      Math.hypot(last.end[0] - start[0], last.end[1] - start[1], last.end[2] - start[2]) < 1e-6;
    const parent = follows ? k - 1 : nearest(start, Math.max(rank, 1));
    out.push({ start, end, radius: numbers[8 * k + 6] ?? 0, radius_end: numbers[8 * k + 7] ?? 0, parent, rank });
  }
  return out;
}

function bounds(places: Float64Array, spare: number): { min: Vector; max: Vector } {
  const [min, max]: [number[], number[]] = [
    [1e9, 1e9, 1e9],
    [-1e9, -1e9, -1e9],
  ];
  for (let i = 0; i < places.length; i += 1) {
    min[i % 3] = Math.min(min[i % 3] ?? 0, (places[i] ?? 0) - spare);
    max[i % 3] = Math.max(max[i % 3] ?? 0, (places[i] ?? 0) + spare);
  }
  return { min: min as unknown as Vector, max: max as unknown as Vector };
}

/** Which shoot, and the 12 numbers of a matrix, of the shoots that are left. */
function shootsLeft(prototypes: Float64Array, matrices: Float64Array, bare: number, seed: number) {
  const places = Float64Array.from({ length: 3 * prototypes.length }, (_, k) => {
    return matrices[12 * Math.floor(k / 3) + 4 * (k % 3) + 3] ?? 0;
  });
  const left = leavesLeft(places, bare, uniform(seed * 389 + 17));
  return {
    prototypes: prototypes.filter((_, i) => left[i] === 1),
    matrices: matrices.filter((_, i) => left[Math.floor(i / 12)] === 1),
  };
}

function forestShape({ species, seed, leaves, bare = 0, diameter_m }: TreeScanOptions): Shape {
  const surface = new Surface();
  const tree = growTree(forestPlan(species as keyof typeof SPECIES, seed, diameter_m), seed, () => 0, surface);
  const prototypes = new Surface();
  const firsts = [0];
  for (const shoot of tree.shoots) {
    prototypes.append(shoot.surface);
    firsts.push(prototypes.triangleCount);
  }
  const cylinders = linked(tree.wood.cylinders, tree.wood.orders);
  const ends = new Numbers();
  for (const { start, end } of cylinders) ends.push(...start, ...end);
  const all = { prototypes: tree.prototypes.values, matrices: tree.matrices.values };
  const left = bare > 0 ? shootsLeft(all.prototypes, all.matrices, bare, seed) : all;
  const shown = leaves && left.prototypes.length > 0;
  return {
    mesh: {
      name: species,
      origin: [0, 0, 0],
      surfaces: surface.lists(),
      prototypes: shown ? prototypes.lists() : null,
      firsts: shown ? firsts : [],
      instance_prototype: shown ? column("f64", left.prototypes) : null,
      instance_matrix: shown ? column("f64", left.matrices) : null,
    },
    cylinders,
    ...bounds(ends.values, 0.5),
    triangle_count: surface.triangleCount,
  };
}

async function ownShape({ species, seed, leaves, age_days }: TreeScanOptions): Promise<Shape> {
  const { surface, cylinders } = await ownTree(species, age_days ?? 800, seed, leaves);
  const lists = surface.lists();
  const places = coordinatesOf(lists.vertices as NonNullable<typeof lists.vertices>);
  return {
    mesh: {
      name: species,
      origin: [0, 0, 0],
      surfaces: lists,
      prototypes: null,
      firsts: [],
      instance_prototype: null,
      instance_matrix: null,
    },
    cylinders,
    ...bounds(places, 0.02),
    triangle_count: surface.triangleCount,
  };
}

const isForest = (species: string): boolean => Object.hasOwn(SPECIES, species);

export const treeShape = (options: TreeScanOptions): Promise<Shape> =>
  isForest(options.species) ? Promise.resolve(forestShape(options)) : ownShape(options);
