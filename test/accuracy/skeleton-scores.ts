// How well a skeleton follows the true axes of a tree.
import { add, dot, length, type Vector } from "./vector.ts";

/** A straight piece of a true axis. */
export interface AxisPiece {
  readonly start: Vector;
  readonly end: Vector;
  readonly radius: number;
  readonly radius_end: number;
  /** Index of the piece that it grows from; -1 = the base. */
  readonly parent: number;
}

export interface Bone {
  readonly start: Vector;
  readonly end: Vector;
}

export interface SkeletonScores {
  /** Distance of the skeleton to the nearest axis over the radius there: mean over its length, and median. */
  readonly mean_over_radius: number;
  readonly median_over_radius: number;
  /** The mean over the axes of at least 1 and 5 cm of radius. */
  readonly branch_over_radius: number;
  readonly thick_over_radius: number;
  readonly mean_m: number;
  /** Share of the skeleton within the larger of the radius and 2 cm of an axis. */
  readonly precision: number;
  /** Share of the axes' length within the same of the skeleton. */
  readonly recall: number;
  readonly length_share: number;
  readonly tips: number;
  readonly true_tips: number;
  /** Share of the skeleton's ends within the larger of 2 cm and 5 % of the branch of the nearest true tip. */
  readonly tips_right: number;
  readonly tip_median_m: number;
  /** Share of the true tips with an end of the skeleton within the same. */
  readonly tips_found: number;
}

const STEP_M = 0.03;
const LEAST_REACH_M = 0.02;
const TIP_SHARE = 0.05;
const BRANCH_M = 0.01;
const THICK_M = 0.05;

/** Bones in cubes, to find the nearest one. */
export class Nearest<B extends Bone> {
  readonly #cells = new Map<string, B[]>();
  readonly #edge: number;

  constructor(bones: readonly B[], edge = 0.25) {
    this.#edge = edge;
    for (const bone of bones) {
      const steps = Math.max(1, Math.ceil((2 * length(add(bone.end, bone.start, -1))) / edge));
      let last = "";
      for (let k = 0; k <= steps; k += 1) {
        const key = this.#cell(add(bone.start, add(bone.end, bone.start, -1), k / steps)).join();
        if (key === last) continue;
        last = key;
        const list = this.#cells.get(key);
        if (list) list.push(bone);
        else this.#cells.set(key, [bone]);
      }
    }
  }
  #cell = (p: Vector): number[] => p.map((value) => Math.floor(value / this.#edge));

  /** The nearest bone, the share along it and the distance; found in growing shells of cubes. */
  of(p: Vector): { readonly bone: B; readonly share: number; readonly distance: number } | null {
    const [i = 0, j = 0, k = 0] = this.#cell(p);
    let best: { bone: B; share: number; distance: number } | null = null;
    for (let shell = 0; shell <= 12; shell += 1) {
      // A bone may lie half an edge outside of the cubes that list it.
      if (best && best.distance < (shell - 1.5) * this.#edge) break;
      for (let a = -shell; a <= shell; a += 1)
        for (let b = -shell; b <= shell; b += 1)
          for (let c = -shell; c <= shell; c += 1) {
            if (Math.max(Math.abs(a), Math.abs(b), Math.abs(c)) !== shell) continue;
            for (const bone of this.#cells.get(`${i + a},${j + b},${k + c}`) ?? []) {
              const way = add(bone.end, bone.start, -1);
              const share = Math.min(1, Math.max(0, dot(add(p, bone.start, -1), way) / Math.max(1e-12, dot(way, way))));
              const distance = length(add(p, add(bone.start, way, share), -1));
              if (!best || distance < best.distance) best = { bone, share, distance };
            }
          }
    }
    return best;
  }
}

/** Places along bones with the length that each stands for. */
export function places<B extends Bone>(bones: readonly B[]): { at: Vector; bone: B; share: number; weight: number }[] {
  return bones.flatMap((bone) => {
    const way = add(bone.end, bone.start, -1);
    const count = Math.max(1, Math.ceil(length(way) / STEP_M));
    return Array.from({ length: count }, (_, k) => {
      const share = (k + 0.5) / count;
      return { at: add(bone.start, way, share), bone, share, weight: length(way) / count };
    });
  });
}

const radiusAt = ({ radius, radius_end }: AxisPiece, share: number) =>
  Math.max(1e-4, radius + share * (radius_end - radius));
const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** True tips with the length of the unbranched branch that ends there. */
function trueTips(axes: readonly AxisPiece[]): { at: Vector; reach: number }[] {
  const children = new Uint32Array(axes.length);
  for (const { parent } of axes) if (parent >= 0) children[parent] = (children[parent] ?? 0) + 1;
  return axes.flatMap((axis, i) => {
    if (children[i] !== 0) return [];
    let branch = 0;
    for (let at = i; at >= 0 && (at === i || children[at] === 1); at = axes[at]?.parent ?? -1)
      branch += length(add((axes[at] as AxisPiece).end, (axes[at] as AxisPiece).start, -1));
    return [{ at: axis.end, reach: Math.max(LEAST_REACH_M, TIP_SHARE * branch) }];
  });
}

function tipScores(ends: readonly Vector[], axes: readonly AxisPiece[]) {
  const tips = trueTips(axes);
  const off = ends.map((end) => {
    let best = { distance: Number.POSITIVE_INFINITY, reach: 0 };
    for (const { at, reach } of tips) {
      const distance = length(add(end, at, -1));
      if (distance < best.distance) best = { distance, reach };
    }
    return best;
  });
  const found = tips.filter(({ at, reach }) => ends.some((end) => length(add(end, at, -1)) <= reach));
  return {
    tips: ends.length,
    true_tips: tips.length,
    tips_right: off.filter(({ distance, reach }) => distance <= reach).length / Math.max(1, off.length),
    tip_median_m: median(off.map(({ distance }) => distance)),
    tips_found: found.length / Math.max(1, tips.length),
  };
}

/** Scores of the bones of a skeleton and its ends without the base. */
export function skeletonScores(
  bones: readonly Bone[],
  ends: readonly Vector[],
  axes: readonly AxisPiece[],
): SkeletonScores {
  const sum = { length: 0, off: 0, over: 0, right: 0, branch: 0, branchOver: 0, thick: 0, thickOver: 0 };
  const ratios: number[] = [];
  const truth = new Nearest(axes);
  for (const { at, weight } of places(bones)) {
    const near = truth.of(at);
    const radius = near ? radiusAt(near.bone, near.share) : 1e-4;
    const distance = near?.distance ?? 3;
    sum.length += weight;
    sum.off += weight * distance;
    sum.over += (weight * distance) / radius;
    ratios.push(distance / radius);
    if (distance <= Math.max(radius, LEAST_REACH_M)) sum.right += weight;
    if (radius < BRANCH_M) continue;
    sum.branch += weight;
    sum.branchOver += (weight * distance) / radius;
    if (radius < THICK_M) continue;
    sum.thick += weight;
    sum.thickOver += (weight * distance) / radius;
  }
  const found = new Nearest(bones);
  let [whole, seen] = [0, 0];
  for (const { at, bone, share, weight } of places(axes)) {
    whole += weight;
    if ((found.of(at)?.distance ?? 3) <= Math.max(radiusAt(bone, share), LEAST_REACH_M)) seen += weight;
  }
  return {
    mean_over_radius: sum.over / sum.length,
    median_over_radius: median(ratios),
    branch_over_radius: sum.branchOver / sum.branch,
    thick_over_radius: sum.thickOver / sum.thick,
    mean_m: sum.off / sum.length,
    precision: sum.right / sum.length,
    recall: seen / whole,
    length_share: sum.length / whole,
    ...tipScores(ends, axes),
  };
}
