// A whole tree: stem, branches and leaves, and what is true of it.
import { gaussian, type Uniform, uniform } from "../random.ts";
import type { Height } from "../relief.ts";
import type { Vector } from "../vector.ts";
import { BREAST_HEIGHT_M, stemRadius } from "./allometry.ts";
import { type Growing, growBroadleaf, growConifer } from "./branches.ts";
import { Crown, type TreeSize } from "./crown.ts";
import { convexHull, type Place, perimeter, polygonArea } from "./hull.ts";
import { placed, SHOOTS, type Shoot, shoot } from "./leaves.ts";
import { type GrownStem, growStem, leanOf, StemSection } from "./stem.ts";
import { Numbers, type Surface } from "./surface.ts";
import { Wood } from "./wood.ts";

/** A tree and where it stands. */
export interface TreePlan extends TreeSize {
  readonly id: number;
  readonly x: number;
  readonly y: number;
  readonly is_understorey: boolean;
  /** Instead of the lean that the tree would have by chance. */
  readonly lean?: { readonly degrees: number; readonly azimuth: number };
}

/** What is true of a tree. Lengths in metres, plot coordinates. */
export interface TreeTruth {
  readonly id: number;
  readonly species: string;
  readonly is_conifer: boolean;
  readonly is_understorey: boolean;
  /** Where the axis of the stem meets the ground. */
  readonly base: Vector;
  /**
   * Girth / pi of the section without bark relief across the axis, 1.3 m along the stem above the level of the highest ground
   * around it; null: the tree ends below.
   */
  readonly dbh_m: number | null;
  /** The same with bark, as a tape measures it: the girth of the convex hull. */
  readonly tape_dbh_m: number | null;
  /** Centre of that section. */
  readonly dbh_place: Vector | null;
  /** Longer over shorter axis of the sections. */
  readonly ellipticity: number;
  /** Standard deviation of the bark at breast height. */
  readonly bark_m: number;
  readonly fork_m: number | null;
  /** Of the stem between 0.5 m and 4 m of its length (or its top). */
  readonly lean_deg: number;
  /** Clockwise from +y. */
  readonly lean_azimuth_deg: number;
  /** Highest point of wood and leaves above the base. */
  readonly height_m: number;
  readonly crown_base_m: number;
  /** Convex hull of all leaves seen from above, counter-clockwise. */
  readonly crown_hull: readonly Place[];
  readonly crown_area_m2: number;
  readonly stem_volume_m3: number;
  /** With the branches; ends in each other are counted twice. */
  readonly wood_volume_m3: number;
  readonly leaf_area_m2: number;
  readonly cylinder_count: number;
}

export interface GrownTree {
  readonly truth: TreeTruth;
  readonly wood: Wood;
  readonly shoots: readonly Shoot[];
  /** Which shoot, and 12 numbers of a matrix, for each instance. */
  readonly prototypes: Numbers;
  readonly matrices: Numbers;
}

/** Farthest corner of the leaves in each direction from the middle of the crown. */
class Outline {
  static readonly sectors = 720;
  readonly #far = new Float64Array(Outline.sectors);
  readonly #places: Place[] = [];
  readonly #centre: Vector;
  top = -Infinity;

  constructor(centre: Vector) {
    this.#centre = centre;
  }
  add(corners: Float64Array, m: readonly number[]): void {
    const row = (k: number, i: number) =>
      (m[k] ?? 0) * (corners[i] ?? 0) +
      (m[k + 1] ?? 0) * (corners[i + 1] ?? 0) +
      (m[k + 2] ?? 0) * (corners[i + 2] ?? 0) +
      (m[k + 3] ?? 0);
    for (let i = 0; i < corners.length; i += 3) {
      const [x, y] = [row(0, i), row(4, i)];
      this.top = Math.max(this.top, row(8, i));
      const [dx, dy] = [x - this.#centre[0], y - this.#centre[1]];
      const sector = Math.floor(((Math.atan2(dy, dx) / (2 * Math.PI) + 1) % 1) * Outline.sectors);
      const far = dx * dx + dy * dy;
      if (far <= (this.#far[sector] ?? 0)) continue;
      this.#far[sector] = far;
      this.#places[sector] = [x, y];
    }
  }
  hull(): Place[] {
    const places = Object.values(this.#places);
    return places.length > 2 ? convexHull(places) : [];
  }
}

/** Metres of the stem to breast height above the highest ground around it. */
function breastHeightAlong(stem: GrownStem, base: Vector, radius: number, ground: Height): number {
  let highest = base[2];
  for (let k = 0; k < 16; k += 1) {
    const azimuth = (k * Math.PI) / 8;
    highest = Math.max(highest, ground(base[0] + radius * Math.cos(azimuth), base[1] + radius * Math.sin(azimuth)));
  }
  return (highest - base[2]) / stem.axis.direction(0.3)[2] + BREAST_HEIGHT_M;
}

interface Breast {
  readonly dbh_m: number;
  readonly tape_dbh_m: number;
  readonly dbh_place: Vector;
}

function breast(stem: GrownStem, section: StemSection, along: number): Breast {
  const leader = stem.leaders[0] as (typeof stem.leaders)[number];
  const centre = leader.axis.place(along);
  const d = leader.axis.direction(along);
  // The ring lies in the plane across d: its shape there is that of its places turned level.
  const ring = section.ring(leader, along, 360).map((place): Place => {
    const [x, y, z] = [place[0] - centre[0], place[1] - centre[1], place[2] - centre[2]];
    const u = Math.sqrt(1 - d[0] * d[0]);
    const across = [(1 - d[0] * d[0]) / u, (-d[0] * d[1]) / u, (-d[0] * d[2]) / u];
    return [x * (across[0] ?? 0) + y * (across[1] ?? 0) + z * (across[2] ?? 0), (d[1] * z - d[2] * y) / -u];
  });
  return {
    dbh_m: 2 * section.radius(along),
    tape_dbh_m: perimeter(convexHull(ring)) / Math.PI,
    dbh_place: centre,
  };
}

/** Lean of trees: most are nearly upright, one in twelve leans by up to 15 degrees. */
function leanAt(next: Uniform): number {
  const degrees = next() < 1 / 12 ? 6 + 9 * next() : Math.abs(1.6 * gaussian(next));
  return (degrees * Math.PI) / 180;
}

/** Stem, bark and fork of a tree. */
interface Trunk {
  readonly base: Vector;
  readonly stem: GrownStem;
  readonly section: StemSection;
  readonly fork_m: number | null;
}

function growTrunk(plan: TreePlan, ground: Height, next: Uniform): Trunk {
  const { species, height_m, diameter_m } = plan;
  const base: Vector = [plan.x, plan.y, ground(plan.x, plan.y)];
  const forks = !species.is_conifer && height_m > 8 && next() < 0.3;
  const fork_m = forks ? Math.max(2.2, plan.crown_base_m * (0.55 + 0.5 * next())) : null;
  const by_chance = { lean: leanAt(next), lean_azimuth: 2 * Math.PI * next() };
  const lean = plan.lean ? { lean: (plan.lean.degrees * Math.PI) / 180, lean_azimuth: plan.lean.azimuth } : by_chance;
  const stem = growStem({ base, length_m: height_m, ...lean, fork_m }, next);
  const relief = Math.min(species.bark_most_m, (species.bark_share * diameter_m) / 2);
  const size = { girth_m: Math.PI * diameter_m, length_m: height_m };
  const radius = stemRadius(species, diameter_m, height_m);
  return { base, stem, section: new StemSection(radius, 1 + 0.15 * next() ** 2, relief, size, next), fork_m };
}

/** Leaves of a tree, placed one shoot after the other. */
class Foliage {
  readonly prototypes = new Numbers();
  readonly matrices = new Numbers();
  readonly outline: Outline;
  area_m2 = 0;

  constructor(
    readonly shoots: readonly Shoot[],
    middle: Vector,
    readonly next: Uniform,
  ) {
    this.outline = new Outline(middle);
  }
  readonly add = (place: Vector, along: Vector): void => {
    const which = Math.floor(this.next() * SHOOTS);
    const one = this.shoots[which] as Shoot;
    const matrix = placed(place, along, 2 * Math.PI * this.next());
    this.prototypes.push(which);
    this.matrices.push(...matrix);
    this.outline.add(one.corners, matrix);
    this.area_m2 += one.area_m2;
  };
}

function truthOf(plan: TreePlan, trunk: Trunk, wood: Wood, leaves: Foliage, ground: Height): TreeTruth {
  const { base, stem, section, fork_m } = trunk;
  const { height_m } = plan;
  const along = breastHeightAlong(stem, base, section.radius(0.5), ground);
  const measured = along < height_m - 0.2 ? breast(stem, section, along) : null;
  const crown_hull = leaves.outline.hull();
  return {
    id: plan.id,
    species: plan.species.name,
    is_conifer: plan.species.is_conifer,
    is_understorey: plan.is_understorey,
    base,
    dbh_m: measured?.dbh_m ?? null,
    tape_dbh_m: measured?.tape_dbh_m ?? null,
    dbh_place: measured?.dbh_place ?? null,
    ellipticity: section.ratio,
    bark_m: section.relief_m,
    fork_m,
    ...leanOf(stem.axis.place(Math.min(0.5, height_m / 4)), stem.axis.place(Math.min(4, height_m, fork_m ?? 4))),
    height_m: Math.max(wood.top, leaves.outline.top) - base[2],
    crown_base_m: plan.crown_base_m,
    crown_hull,
    crown_area_m2: polygonArea(crown_hull),
    stem_volume_m3: wood.stem_m3,
    wood_volume_m3: wood.wood_m3,
    leaf_area_m2: leaves.area_m2,
    cylinder_count: wood.count,
  };
}

/** Grows a tree; its wood goes to the surface of the stand. */
export function growTree(plan: TreePlan, seed: number, ground: Height, surface: Surface): GrownTree {
  const next = uniform(seed * 4099 + plan.id * 17);
  const trunk = growTrunk(plan, ground, next);
  const { base, stem, section } = trunk;
  const wood = new Wood(plan.id, surface);
  for (const leader of stem.leaders) wood.stem(leader, section);
  const crown = new Crown(plan, next, (height) => stem.axis.atHeight(base[2] + height));
  const scale = Math.min(1, Math.max(0.55, plan.crown_radius_m / 1.2));
  const shoots = Array.from({ length: SHOOTS }, () => shoot(plan.id, plan.species.is_conifer, scale, next));
  const leaves = new Foliage(shoots, stem.axis.atHeight(base[2] + (plan.crown_base_m + plan.height_m) / 2), next);
  const growing: Growing = {
    size: plan,
    crown,
    wood,
    leaders: stem.leaders,
    radius: (leader, along) => section.radius(along) * Math.sqrt(leader.area_share),
    next,
    leaf: leaves.add,
  };
  if (plan.species.is_conifer) growConifer(growing);
  else growBroadleaf(growing);
  const truth = truthOf(plan, trunk, wood, leaves, ground);
  return { truth, wood, shoots, prototypes: leaves.prototypes, matrices: leaves.matrices };
}
