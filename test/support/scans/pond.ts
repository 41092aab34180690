import { gaussian, uniform } from "../../accuracy/random.ts";

type Point = [number, number, number];

/** Height of the water. */
export const POND_LEVEL = -0.6;
const SIDE = 28;

/** Even ground with a pond in its middle and trees around it, then what the pond mirrors of a tenth of all points up to 5 m above it. */
export function pond(seed = 1): { points: Point[]; real: number; trees: readonly (readonly [number, number])[] } {
  const next = uniform(seed);
  const points: Point[] = [];
  const ground = (x: number, y: number) => -1.2 * Math.exp(-((Math.hypot(x, y) / 4.5) ** 6));
  for (let x = -SIDE / 2; x <= SIDE / 2; x += 0.14)
    for (let y = -SIDE / 2; y <= SIDE / 2; y += 0.14) {
      const z = ground(x, y) + 0.005 * gaussian(next);
      if (z > POND_LEVEL) points.push([x, y, z]);
    }
  const trees = Array.from({ length: 7 }, (_, k) => {
    const [turn, away] = [0.9 * k, 6.5 + 2 * (k % 2)];
    return [away * Math.cos(turn), away * Math.sin(turn)] as const;
  });
  for (const [k, [x, y]] of trees.entries()) {
    const high = 8 + (k % 3);
    for (let i = 0; i < 2500; i += 1) {
      const turn = 2 * Math.PI * next();
      points.push([x + 0.15 * Math.cos(turn), y + 0.15 * Math.sin(turn), ground(x, y) + (high - 1) * next()]);
    }
    for (let i = 0; i < 2500; i += 1) {
      const p = [gaussian(next), gaussian(next), gaussian(next)] as const;
      const r = next() ** (1 / 3) / Math.hypot(...p);
      points.push([x + 1.8 * r * p[0], y + 1.8 * r * p[1], high * (0.7 + 0.3 * r * p[2])]);
    }
  }
  const real = points.length;
  for (const [x, y, z] of points.slice(0, real)) {
    if (z > POND_LEVEL + 5 || next() > 0.1) continue;
    points.push([x, y, 2 * POND_LEVEL - z + 0.01 * gaussian(next)]);
  }
  return { points, real, trees };
}
