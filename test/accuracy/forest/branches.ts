// Branches of conifers (whorls of level branches with twigs to both sides) and of broadleaves (branches that rise and divide).
import { gaussian, type Uniform } from "../random.ts";
import { add, unit, type Vector } from "../vector.ts";
import type { Crown, TreeSize } from "./crown.ts";
import { SHOOT_REACH_M } from "./leaves.ts";
import { cross, type Leader } from "./stem.ts";
import type { Wood } from "./wood.ts";

/** The tips of twigs. */
const TIP_RADIUS_M = 0.001;
const GOLDEN_TURN = 2.399963;

/** A tree whose stem has grown. */
export interface Growing {
  readonly size: TreeSize;
  readonly crown: Crown;
  readonly wood: Wood;
  readonly leaders: readonly Leader[];
  /** Radius of the stem of a leader. */
  readonly radius: (leader: Leader, along: number) => number;
  readonly next: Uniform;
  /** Puts leaves at a place of a twig. */
  readonly leaf: (place: Vector, along: Vector) => void;
}

interface Limb {
  readonly from: Vector;
  readonly along: Vector;
  readonly length: number;
  readonly order: number;
  readonly parent_radius: number;
  /** Turn upwards per metre. */
  readonly rise: number;
  readonly wander: number;
  /** Branches below the crown are dead: they end where they end. */
  readonly dead: boolean;
}

interface Grown {
  readonly places: readonly Vector[];
  readonly radii: readonly number[];
}

/** Distances shrink less than the crown: small trees have fewer branches. */
const scaleOf = ({ crown_radius_m }: TreeSize): number => Math.min(1.25, (crown_radius_m / 2) ** 0.6);
/** Room that shoots need beside the wood. */
const spareOf = ({ crown_radius_m }: TreeSize): number => Math.min(SHOOT_REACH_M, 0.35 * crown_radius_m);
/** Radius of a branch at its base, metres. Ours: 2.4 cm thick at 2 m in conifers, 7 cm at 3 m in broadleaves. */
const limbRadius = (is_conifer: boolean, length: number): number =>
  is_conifer ? TIP_RADIUS_M + 0.0055 * length : TIP_RADIUS_M + 0.009 * length ** 1.2;

function grow(tree: Growing, limb: Limb): Grown | null {
  const { next, size } = tree;
  const count = Math.min(9, Math.max(2, Math.ceil(limb.length / 0.35)));
  const step = limb.length / count;
  const places = [limb.from];
  let along = unit(limb.along);
  for (let k = 0; k < count; k += 1) {
    const sway = limb.wander * Math.sqrt(step);
    along = unit(add(along, [sway * gaussian(next), sway * gaussian(next), sway * gaussian(next) + limb.rise * step]));
    const place = add(places[k] as Vector, along, step);
    if (!limb.dead && !tree.crown.holds(place, spareOf(size))) break;
    places.push(place);
  }
  if (places.length < 2) return null;
  const base = Math.max(
    TIP_RADIUS_M,
    Math.min(0.6 * limb.parent_radius, limbRadius(size.species.is_conifer, step * (places.length - 1))),
  );
  const radii = places.map((_, i) => base + ((TIP_RADIUS_M - base) * i) / (places.length - 1));
  tree.wood.branch(places, radii, limb.order);
  return { places, radii };
}

/** Place, direction and radius at a share of a limb's length. */
function along({ places, radii }: Grown, share: number): readonly [Vector, Vector, number] {
  const at = Math.min(places.length - 1.001, share * (places.length - 1));
  const i = Math.floor(at);
  const step = add(places[i + 1] as Vector, places[i] as Vector, -1);
  const radius = (radii[i] ?? 0) + (at - i) * ((radii[i + 1] ?? 0) - (radii[i] ?? 0));
  return [add(places[i] as Vector, step, at - i), unit(step), radius];
}
function lengthOf({ places }: Grown): number {
  return places.slice(1).reduce((sum, place, i) => {
    const step = add(place, places[i] as Vector, -1);
    return sum + Math.hypot(...step);
  }, 0);
}

/** Shoots along a limb from a share of its length to its tip. */
function leafy(tree: Growing, limb: Grown, from: number, spacing: number): void {
  const count = Math.max(1, Math.round(((1 - from) * lengthOf(limb)) / spacing));
  for (let k = 0; k < count; k += 1) {
    const [place, way] = along(limb, from + ((1 - from) * (k + 0.7)) / count);
    const side = 0.45;
    const turned = unit(add(way, [side * gaussian(tree.next), side * gaussian(tree.next), side * gaussian(tree.next)]));
    tree.leaf(place, turned);
  }
}

const level = (way: Vector): Vector => unit(Math.abs(way[2]) > 0.97 ? [1, 0, 0] : cross([0, 0, 1], way));
const rising = (azimuth: number, elevation: number): Vector => [
  Math.cos(elevation) * Math.cos(azimuth),
  Math.cos(elevation) * Math.sin(azimuth),
  Math.sin(elevation),
];

function coniferBranch(tree: Growing, limb: Grown, scale: number): void {
  const { next } = tree;
  const length = lengthOf(limb);
  const spacing = 0.15 * scale;
  const count = Math.floor((0.8 * length) / spacing);
  leafy(tree, limb, 0.3, 0.16 * scale);
  for (let k = 0; k < count; k += 1) {
    const share = 0.15 + (0.8 * (k + next())) / count;
    const [from, way, parent_radius] = along(limb, share);
    const side = k % 2 === 0 ? 1 : -1;
    const turned = add(add(way, level(way), side * (1.1 + 0.3 * next())), [0, 0, -0.15 + 0.2 * gaussian(next)]);
    const rest = (0.45 + 0.15 * next()) * (1 - share) * length + 0.1 * scale;
    const twig = grow(tree, {
      from,
      along: turned,
      length: Math.min(rest, 0.9),
      order: 2,
      parent_radius,
      rise: 0,
      wander: 0.1,
      dead: false,
    });
    if (twig) leafy(tree, twig, 0.1, 0.16 * scale);
  }
}

export function growConifer(tree: Growing): void {
  const { size, next, crown, leaders } = tree;
  const leader = leaders[0] as Leader;
  const scale = scaleOf(size);
  const crown_length = size.height_m - size.crown_base_m;
  const spacing = Math.max(0.12, Math.min(0.42, crown_length / 28));
  const first = size.height_m > 4 ? Math.max(1.2, 0.3 * size.crown_base_m) : size.crown_base_m;
  for (let at = first; at < size.height_m - 0.15; at += spacing * (0.85 + 0.3 * next())) {
    const dead = at < size.crown_base_m;
    if (dead && next() < 0.45) continue;
    const depth = Math.max(0, (size.height_m - at) / crown_length);
    const count = dead ? 1 + Math.floor(2 * next()) : 4 + Math.floor(2.5 * next());
    const turn = 2 * Math.PI * next();
    for (let k = 0; k < count; k += 1) {
      const azimuth = turn + (2 * Math.PI * (k + 0.4 * next())) / count;
      const elevation = 0.75 - 0.95 * Math.min(1, depth) + 0.12 * gaussian(next);
      const reach = crown.radius(Math.min(size.height_m - 0.05, at + 0.02), azimuth) * (0.8 + 0.3 * next());
      const height = at + 0.12 * gaussian(next) * spacing;
      const limb = grow(tree, {
        from: leader.axis.place(height),
        along: rising(azimuth, elevation),
        length: dead ? 0.25 + 0.7 * next() * scale : reach / Math.max(0.6, Math.cos(elevation)),
        order: 1,
        parent_radius: tree.radius(leader, height),
        rise: dead ? -0.05 : 0.12 * depth,
        wander: 0.06,
        dead,
      });
      if (limb && !dead) coniferBranch(tree, limb, scale);
    }
  }
  tree.leaf(leader.axis.place(size.height_m - 0.3), leader.axis.direction(size.height_m - 0.3));
}

function divide(tree: Growing, limb: Grown, order: number, scale: number): void {
  const { next } = tree;
  const length = lengthOf(limb);
  leafy(tree, limb, order === 3 ? 0.1 : 0.45, (order === 3 ? 0.15 : 0.18) * scale);
  if (order === 3) return;
  const spacing = (order === 1 ? 0.24 : 0.21) * scale;
  const count = Math.floor((0.8 * length) / spacing);
  const turn = 2 * Math.PI * next();
  for (let k = 0; k < count; k += 1) {
    const share = 0.18 + (0.8 * (k + next())) / count;
    const [from, way, parent_radius] = along(limb, share);
    const around = turn + GOLDEN_TURN * k;
    const [u, v] = [level(way), cross(way, level(way))];
    const open = 0.85 + 0.35 * next();
    const turned = add(add(way, u, open * Math.cos(around)), v, open * Math.sin(around));
    const rest = (0.4 + 0.25 * next()) * (1 - share) * length + 0.16 * scale;
    const child = grow(tree, {
      from,
      along: turned,
      length: rest,
      order: order + 1,
      parent_radius,
      rise: 0.25,
      wander: 0.16,
      dead: false,
    });
    if (child) divide(tree, child, order + 1, scale);
  }
}

export function growBroadleaf(tree: Growing): void {
  const { size, next, crown, leaders } = tree;
  const scale = scaleOf(size);
  const crown_length = size.height_m - size.crown_base_m;
  const spacing = Math.max(0.1, Math.min(0.5, crown_length / 26));
  for (const leader of leaders) {
    const start = Math.max(leader.from, size.crown_base_m) + 0.3 * spacing;
    let turn = 2 * Math.PI * next();
    for (let at = start; at < leader.to - 0.1; at += spacing * (0.7 + 0.6 * next())) {
      const depth = Math.max(0, (size.height_m - at) / crown_length);
      const elevation = 1.1 - 0.75 * depth + 0.15 * gaussian(next);
      const way = rising(turn, elevation);
      const from = leader.axis.place(at);
      turn += GOLDEN_TURN + 0.3 * gaussian(next);
      const limb = grow(tree, {
        from,
        along: way,
        length: crown.reach(from, way, 0, 8) * (0.8 + 0.25 * next()),
        order: 1,
        parent_radius: tree.radius(leader, at),
        rise: 0.08,
        wander: 0.13,
        dead: false,
      });
      if (limb) divide(tree, limb, 1, scale);
    }
    for (let at = leader.to - 0.9 * scale; at < leader.to - 0.1; at += 0.12 * scale)
      if (at > start)
        tree.leaf(leader.axis.place(at), unit(add(leader.axis.direction(at), level(rising(turn * at, 0)), 0.7)));
  }
}
