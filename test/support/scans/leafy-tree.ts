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

/** An upright cylinder of 4 cm radius and 2 m height, and on its top flat leaves of 3 x 1.5 cm with a point every 3 mm. */
export function finelyScanned(seed = 1, { leaves = 600 } = {}): LeafyTree {
  const random = uniform(seed);
  const points: [number, number, number][] = [];
  for (let i = 0; i < 6000; i += 1) {
    const angle = TAU * random();
    points.push([0.04 * Math.cos(angle), 0.04 * Math.sin(angle), 2 * random()]);
  }
  const wood = points.length;
  for (let leaf = 0; leaf < leaves; leaf += 1) {
    const [x = 0, y = 0, z = 0] = [0, 0, 2.2].map((middle) => middle + 0.4 * (random() - 0.5));
    const [turn, lean] = [TAU * random(), TAU * random()];
    const along = [Math.cos(turn) * Math.cos(lean), Math.sin(turn) * Math.cos(lean), Math.sin(lean)] as const;
    const across = [-Math.sin(turn), Math.cos(turn), 0] as const;
    for (let u = 0; u < 0.03; u += 0.003)
      for (let v = 0; v < 0.015; v += 0.003)
        points.push([x + u * along[0] + v * across[0], y + u * along[1] + v * across[1], z + u * along[2]]);
  }
  return { points, classes: points.map((_, i) => (i < wood ? 1 : 2)) };
}

/** Share of equal labels. */
export const agreement = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let same = 0;
  for (let i = 0; i < a.length; i += 1) same += a[i] === b[i] ? 1 : 0;
  return same / a.length;
};
