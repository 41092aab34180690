// How well a model's axes, branches and radii follow those of a tree whose cylinders are known.
import type { QsmCylinder } from "../../shared/contract/qsm-records.ts";
import { type Bone, Nearest, places } from "./skeleton-scores.ts";
import { add, dot, length, type Vector } from "./vector.ts";

/** A cylinder or cone of the true tree. */
export interface TruePiece extends Bone {
  /** At the start and the end, metres. */
  readonly radius: number;
  readonly radius_end: number;
  /** Index of the piece that it grows from, -1 = the base. */
  readonly parent: number;
  /** 0 = stem, 1 = branches of it, and so on. */
  readonly rank: number;
}

/** Shares unless stated; lengths in metres. On an axis: within the larger of its radius and 2 cm. */
export interface StructureScores {
  /** Of the true wood's length, on an axis of the model. */
  readonly recall: number;
  /** Of the model's length, on a true axis. */
  readonly precision: number;
  /** Of the model's volume, on no true axis. */
  readonly unmatched: number;
  /** From the axes of the model to the true ones. */
  readonly distance_m: number;
  readonly distance_p95_m: number;
  /** The same over the radius of the tree's thinnest piece. */
  readonly distance_thinnest: number;
  readonly distance_p95_thinnest: number;
  /** Mean |found / true - 1| of radii where a model's axis is on a true one of the same kind. */
  readonly stem_radius: number;
  readonly branch_radius: number;
  /** Of the stem's length, on an axis of rank 0. */
  readonly trunk_recall: number;
  /** Branches of the stem of which at least half lies on one shoot of rank 1. */
  readonly rank1_recall: number;
  readonly rank1_count: number;
  /** Of them, median |found - true| of the angle to the stem, degrees. */
  readonly angle_deg: number;
}

const REACH_M = 0.02;
/** Shorter branches are twigs. */
const LEAST_BRANCH_M = 0.1;
/** Over which the angle of a branch is taken. */
const ANGLE_M = 0.3;

const mean = (values: readonly number[], weights: readonly number[]) =>
  values.reduce((sum, v, i) => sum + v * (weights[i] ?? 0), 0) / weights.reduce((a, b) => a + b, 0);
function quantile(values: readonly number[], weights: readonly number[], share: number): number {
  const order = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const goal = share * weights.reduce((a, b) => a + b, 0);
  let sum = 0;
  for (const i of order) {
    sum += weights[i] ?? 0;
    if (sum >= goal) return values[i] ?? Number.NaN;
  }
  return Number.NaN;
}
const median = (values: readonly number[]) =>
  quantile(
    values,
    values.map(() => 1),
    0.5,
  );
const radiusAt = (piece: TruePiece, share: number) => piece.radius + share * (piece.radius_end - piece.radius);
const reachOf = (radius: number) => Math.max(REACH_M, radius);

/** Angle between two directions, degrees. */
function angleOf(a: Vector, b: Vector): number {
  const size = length(a) * length(b);
  return (180 / Math.PI) * Math.acos(Math.min(1, Math.max(-1, size > 0 ? dot(a, b) / size : 1)));
}

/** Pieces of each branch of the stem, base first. */
function firstBranches(truth: readonly TruePiece[]): TruePiece[][] {
  const branch = new Map<number, TruePiece[]>();
  for (const [i, piece] of truth.entries()) {
    if (piece.rank !== 1) continue;
    const before = branch.get(piece.parent);
    const follows = before && truth[piece.parent]?.rank === 1;
    const list = follows ? before : [];
    list.push(piece);
    branch.set(i, list);
  }
  const total = (list: readonly TruePiece[]) => list.reduce((sum, p) => sum + length(add(p.end, p.start, -1)), 0);
  return [...new Set(branch.values())].filter((list) => total(list) >= LEAST_BRANCH_M);
}

/** The place at a distance along a chain of bones, or its end. */
function placeAlong(chain: readonly Bone[], distance: number): Vector {
  let left = distance;
  for (const { start, end } of chain) {
    const way = add(end, start, -1);
    const size = length(way);
    if (size >= left && size > 0) return add(start, way, left / size);
    left -= size;
  }
  return chain.at(-1)?.end ?? [0, 0, 0];
}
/** From its base over ANGLE_M. */
const directionOf = (chain: readonly Bone[]): Vector =>
  add(placeAlong(chain, ANGLE_M), chain[0]?.start ?? [0, 0, 0], -1);

/** Direction of what carries a branch, over the ANGLE_M around its base. */
function carrierAt(carrier: readonly Bone[], base: Vector): Vector | null {
  let [along, at, nearest] = [0, 0, Number.POSITIVE_INFINITY];
  for (const { start, end } of carrier) {
    const way = add(end, start, -1);
    const share = Math.min(1, Math.max(0, dot(add(base, start, -1), way) / Math.max(1e-12, dot(way, way))));
    const away = length(add(base, add(start, way, share), -1));
    if (away < nearest) [nearest, at] = [away, along + share * length(way)];
    along += length(way);
  }
  if (along <= 0) return null;
  const low = Math.max(0, Math.min(at - ANGLE_M / 2, along - ANGLE_M));
  return add(placeAlong(carrier, low + ANGLE_M), placeAlong(carrier, low), -1);
}

function branchScores(truth: readonly TruePiece[], found: readonly QsmCylinder[]) {
  const shoots = new Map<number, QsmCylinder[]>();
  for (const one of found) shoots.set(one.shoot_id, [...(shoots.get(one.shoot_id) ?? []), one]);
  const first = new Nearest(found.filter((one) => one.rank === 1));
  const [stem, trueStem] = [found.filter((one) => one.rank === 0), truth.filter((one) => one.rank === 0)];
  const branches = firstBranches(truth);
  let recalled = 0;
  const off: number[] = [];
  for (const branch of branches) {
    const covered = new Map<number, number>();
    let total = 0;
    for (const { at, bone, share, weight } of places(branch)) {
      total += weight;
      const near = first.of(at);
      if (!near || near.distance > reachOf(radiusAt(bone, share))) continue;
      covered.set(near.bone.shoot_id, (covered.get(near.bone.shoot_id) ?? 0) + weight);
    }
    const [shoot, most] = [...covered].reduce((a, b) => (b[1] > a[1] ? b : a), [-1, 0] as [number, number]);
    if (most < 0.5 * total) continue;
    recalled += 1;
    const base = branch[0]?.start ?? [0, 0, 0];
    const own = shoots.get(shoot) ?? [];
    const [carrier, trueCarrier] = [carrierAt(stem, own[0]?.start ?? base), carrierAt(trueStem, base)];
    if (carrier && trueCarrier)
      off.push(Math.abs(angleOf(directionOf(own), carrier) - angleOf(directionOf(branch), trueCarrier)));
  }
  return { rank1_recall: recalled / branches.length, rank1_count: branches.length, angle_deg: median(off) };
}

export function structureScores(truth: readonly TruePiece[], found: readonly QsmCylinder[]): StructureScores {
  const [axes, model, stem] = [
    new Nearest(truth),
    new Nearest(found),
    new Nearest(found.filter((one) => one.rank === 0)),
  ];
  const thinnest = truth.reduce((least, { radius, radius_end }) => Math.min(least, (radius + radius_end) / 2), 1e9);
  const on = { length: 0, total: 0, volume: 0, all: 0 };
  const [away, weights]: number[][] = [[], []];
  const errors = { stem: [[], []] as [number[], number[]], branch: [[], []] as [number[], number[]] };
  for (const { at, bone, weight } of places(found)) {
    const near = axes.of(at);
    const volume = Math.PI * bone.radius ** 2 * weight;
    on.total += weight;
    on.all += volume;
    if (!near) continue;
    const radius = radiusAt(near.bone, near.share);
    away?.push(near.distance);
    weights?.push(weight);
    if (near.distance > reachOf(radius)) continue;
    on.length += weight;
    on.volume += volume;
    if ((bone.rank === 0) !== (near.bone.rank === 0)) continue;
    const [values, by] = bone.rank === 0 ? errors.stem : errors.branch;
    values.push(Math.abs(bone.radius / radius - 1));
    by.push(weight);
  }
  const wood = { seen: 0, total: 0, trunk: 0, stem: 0 };
  for (const { at, bone, share, weight } of places(truth)) {
    const reach = reachOf(radiusAt(bone, share));
    wood.total += weight;
    if ((model.of(at)?.distance ?? Number.POSITIVE_INFINITY) <= reach) wood.seen += weight;
    if (bone.rank !== 0) continue;
    wood.stem += weight;
    if ((stem.of(at)?.distance ?? Number.POSITIVE_INFINITY) <= reach) wood.trunk += weight;
  }
  const [distance_m, distance_p95_m] = [mean(away ?? [], weights ?? []), quantile(away ?? [], weights ?? [], 0.95)];
  return {
    recall: wood.seen / wood.total,
    precision: on.length / on.total,
    unmatched: 1 - on.volume / on.all,
    distance_m,
    distance_p95_m,
    distance_thinnest: distance_m / thinnest,
    distance_p95_thinnest: distance_p95_m / thinnest,
    stem_radius: mean(...errors.stem),
    branch_radius: mean(...errors.branch),
    trunk_recall: wood.trunk / wood.stem,
    ...branchScores(truth, found),
  };
}
