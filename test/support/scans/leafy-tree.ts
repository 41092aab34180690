import { uniform } from "../../accuracy/random.ts";

/** A tree whose parts are known: 1 = wood, 2 = leaf per point. */
export interface LeafyTree {
  readonly points: [number, number, number][];
  readonly classes: number[];
}

const TAU = 2 * Math.PI;

/** An upright cylinder of 0.15 m radius and 4 m height, and on its top a ball of leaves of 1 m radius, 1 point / litre. */
export function leafyTree(seed = 1, { leaves = 4000, wood = 6000 } = {}): LeafyTree {
  const random = uniform(seed);
  const points: [number, number, number][] = [];
  const classes: number[] = [];
  for (let i = 0; i < wood; i += 1) {
    const angle = TAU * random();
    points.push([0.15 * Math.cos(angle), 0.15 * Math.sin(angle), 4 * random()]);
    classes.push(1);
  }
  while (points.length < wood + leaves) {
    const [x, y, z] = [2 * random() - 1, 2 * random() - 1, 2 * random() - 1];
    if (x * x + y * y + z * z > 1) continue;
    points.push([x, y, 5.1 + z]);
    classes.push(2);
  }
  return { points, classes };
}

/** Share of equal labels. */
export const agreement = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let same = 0;
  for (let i = 0; i < a.length; i += 1) same += a[i] === b[i] ? 1 : 0;
  return same / a.length;
};
