// Scans of a tree that do not show it at one place: they lie beside each other, or wind moved the leaves between them.
import type { LeafyTree } from "./leafy-tree.ts";
import { gaussian, uniform } from "./random.ts";
import type { Vector } from "./vector.ts";

/** Waves of a field that is smooth over a third of a metre. */
const WAVES = 24;
const WAVE_PER_M = 2.1;

/** A vector of one length, in a direction of its own for each scan. */
export function offsetOf(scan: number, length: number): Vector {
  const next = uniform(100 + scan);
  const v = [gaussian(next), gaussian(next), gaussian(next)];
  const norm = Math.hypot(...v);
  return v.map((value) => (length * value) / norm) as unknown as Vector;
}

/** The leaves where the wind has them in a scan: each moved as a whole, by `spread` along each axis (standard deviation). */
export function inTheWind(tree: LeafyTree, scan: number, spread: number): LeafyTree {
  const next = uniform(200 + scan);
  const waves = Array.from({ length: 3 * WAVES }, () => ({
    k: [gaussian(next), gaussian(next), gaussian(next)].map((one) => WAVE_PER_M * one) as unknown as Vector,
    phase: 2 * Math.PI * next(),
  }));
  const scale = spread * Math.sqrt(2 / WAVES);
  const field = (p: Vector) =>
    [0, 1, 2].map((axis) =>
      waves
        .slice(axis * WAVES, (axis + 1) * WAVES)
        .reduce((sum, { k, phase }) => sum + scale * Math.cos(k[0] * p[0] + k[1] * p[1] + k[2] * p[2] + phase), 0),
    );
  const corners = Float64Array.from(tree.corners);
  const moves = new Map<number, number[]>();
  for (const [t, part] of tree.parts.entries()) {
    const [x = 0, y = 0, z = 0] = corners.subarray(9 * t);
    const move = moves.get(part) ?? field([x, y, z]);
    moves.set(part, move);
    for (let j = 0; j < 9; j += 1) corners[9 * t + j] = (corners[9 * t + j] ?? 0) + (move[j % 3] ?? 0);
  }
  return { ...tree, corners };
}
