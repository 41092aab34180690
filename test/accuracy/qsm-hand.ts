// Trees of a few straight tubes whose points lie evenly on their surface: what a model reaches without a scanner's gaps.
import type { TruePiece } from "./qsm-structure.ts";
import { gaussian, uniform } from "./random.ts";
import { add, length, unit, type Vector } from "./vector.ts";

export interface HandTree {
  readonly name: string;
  readonly xyz: Float64Array;
  readonly pieces: readonly TruePiece[];
}

const NOISE_M = 0.001;
const SPACING_M = 0.006;

const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

class Builder {
  readonly pieces: TruePiece[] = [];

  /** A chain of cones from one radius to another; returns the number of its first piece. */
  axis(places: readonly Vector[], radii: readonly [number, number], parent: number, rank: number): number {
    const first = this.pieces.length;
    const at = (k: number) => radii[0] + ((radii[1] - radii[0]) * k) / (places.length - 1);
    for (let k = 0; k + 1 < places.length; k += 1)
      this.pieces.push({
        start: places[k] as Vector,
        end: places[k + 1] as Vector,
        radius: at(k),
        radius_end: at(k + 1),
        parent: k === 0 ? parent : this.pieces.length - 1,
        rank,
      });
    return first;
  }

  /** A branch of `size` metres from the end of a piece, rising by `rise` per metre towards a bearing. */
  branch(parent: number, bearing: number, rise: number, size: number, radius: number): number {
    const { end, rank } = this.pieces[parent] as TruePiece;
    const way = unit([Math.cos(bearing), Math.sin(bearing), rise]);
    const places = Array.from({ length: 5 }, (_, k) => add(end, way, (size * k) / 4));
    return this.axis(places, [radius, 0.6 * radius], parent, rank + 1);
  }

  tree(name: string, seed: number): HandTree {
    const next = uniform(seed);
    const xyz: number[] = [];
    for (const { start, end, radius, radius_end } of this.pieces) {
      const way = add(end, start, -1);
      const w = unit(way);
      const u = unit(cross(w, Math.abs(w[0]) < 0.5 ? [1, 0, 0] : [0, 1, 0]));
      const v = cross(w, u);
      const count = (Math.PI * (radius + radius_end) * length(way)) / SPACING_M ** 2;
      for (let i = 0; i < count; i += 1) {
        const [share, turn] = [next(), 2 * Math.PI * next()];
        const r = radius + share * (radius_end - radius) + NOISE_M * gaussian(next);
        xyz.push(...add(add(add(start, way, share), u, r * Math.cos(turn)), v, r * Math.sin(turn)));
      }
    }
    return { name, xyz: Float64Array.from(xyz), pieces: this.pieces };
  }
}

/** A straight stem with a branch to another side at each node. */
function spiral(): HandTree {
  const to = new Builder();
  to.axis(
    Array.from({ length: 13 }, (_, k): Vector => [0, 0, k / 3]),
    [0.08, 0.02],
    -1,
    0,
  );
  for (let k = 2; k < 11; k += 1) {
    const limb = to.branch(k, 2.4 * k, 0.6, 1.4 - 0.1 * k, 0.022 - 0.001 * k);
    to.branch(limb + 2, 2.4 * k + 1, 0.8, 0.4, 0.008);
  }
  return to.tree("spiral", 1);
}

/** A leaning, curved stem with whorls of three. */
function whorls(): HandTree {
  const to = new Builder();
  to.axis(
    Array.from({ length: 15 }, (_, k): Vector => [0.012 * (k / 3) ** 2 * 3, 0, k / 3]),
    [0.1, 0.015],
    -1,
    0,
  );
  for (let k = 3; k < 12; k += 2)
    for (let arm = 0; arm < 3; arm += 1) to.branch(k, 2.09 * arm + k, 0.25, 1.3 - 0.08 * k, 0.018 - 0.001 * k);
  return to.tree("whorls", 2);
}

/** A stem with long scaffolds that carry branches of their own. */
function scaffolds(): HandTree {
  const to = new Builder();
  to.axis(
    Array.from({ length: 10 }, (_, k): Vector => [0, 0.01 * k, 0.3 * k]),
    [0.12, 0.05],
    -1,
    0,
  );
  for (let k = 3; k < 9; k += 1) {
    const limb = to.branch(k, 2.1 * k, 0.9, 1.6 - 0.1 * k, 0.04);
    for (let side = 1; side < 4; side += 1)
      to.branch(limb + side - 1, 2.1 * k + (side % 2 ? 0.9 : -0.9), 0.7, 0.5, 0.01);
  }
  return to.tree("scaffolds", 3);
}

export const handTrees = (): HandTree[] => [spiral(), whorls(), scaffolds()];
