// Shoots with leaves: prototypes of a tree, placed along its twigs.
import type { Uniform } from "../random.ts";
import { add, unit, type Vector } from "../vector.ts";
import { cross } from "./stem.ts";
import { codeOf, NO_CYLINDER, SCANNED, Surface } from "./surface.ts";

/** Prototypes of a tree. */
export const SHOOTS = 2;

/** Sizes of a shoot, metres. Ours: a maple leaf of 9 cm, bundles of needles of 4 cm. */
const BROAD = { length_m: 0.24, leaves: 18, leaf_m: 0.095, width_share: 0.62, stalk_m: 0.025 };
const NEEDLES = { length_m: 0.26, leaves: 44, leaf_m: 0.042, width_share: 0.36, stalk_m: 0 };

export interface Shoot {
  readonly surface: Surface;
  /** Corners, x, y, z after each other, to measure the crown. */
  readonly corners: Float64Array;
  /** One side. */
  readonly area_m2: number;
}

function randomDirection(next: Uniform): Vector {
  const z = 2 * next() - 1;
  const azimuth = 2 * Math.PI * next();
  const level = Math.sqrt(1 - z * z);
  return [level * Math.cos(azimuth), level * Math.sin(azimuth), z];
}

/** A shoot along +x from the origin; leaves are rhombi of two triangles. */
export function shoot(tree: number, is_conifer: boolean, scale: number, next: Uniform): Shoot {
  const { length_m, leaves, leaf_m, width_share, stalk_m } = is_conifer ? NEEDLES : BROAD;
  const surface = new Surface();
  const code = codeOf(tree, NO_CYLINDER);
  const corners: number[] = [];
  let area_m2 = 0;
  for (let k = 0; k < leaves; k += 1) {
    const from: Vector = [scale * length_m * ((k + next()) / leaves), 0, 0];
    const around = is_conifer ? 2 * Math.PI * next() : k * 2.399963 + next();
    const rise = is_conifer ? 0.9 : 0.8;
    const out = unit([0.35 + 0.5 * next(), rise * Math.cos(around), rise * Math.sin(around)]);
    const side = unit(cross(out, randomDirection(next)));
    const size = scale * leaf_m * (0.75 + 0.5 * next());
    area_m2 += (width_share * size * size) / 2;
    const base = add(from, out, scale * stalk_m);
    const tip = add(base, out, size);
    const middle = add(base, out, 0.45 * size);
    const rhombus = [
      base,
      add(middle, side, (width_share * size) / 2),
      tip,
      add(middle, side, (-width_share * size) / 2),
    ];
    const [a, b, c, d] = rhombus.map((corner) => surface.vertex(corner, code)) as [number, number, number, number];
    surface.quad(a, b, c, d, SCANNED.leaf);
    for (const corner of rhombus) corners.push(...corner);
  }
  return { surface, corners: Float64Array.from(corners), area_m2 };
}

/** Length of the longest shoot and its leaves, metres. */
export const SHOOT_REACH_M = 0.36;

/** The 3 x 4 matrix that turns +x into a direction, rolled about it, and moves the origin to a place. */
export function placed(place: Vector, along: Vector, roll: number): number[] {
  const u = unit(cross(Math.abs(along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], along));
  const v = cross(along, u);
  const y = add(add([0, 0, 0], u, Math.cos(roll)), v, Math.sin(roll));
  const z = cross(along, y);
  return [0, 1, 2].flatMap((k) => [along[k] ?? 0, y[k] ?? 0, z[k] ?? 0, place[k] ?? 0]);
}
