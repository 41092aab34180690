// Which leaves of a tree are gone: shaded, dead and eaten branches are bare in whole clumps.
import type { Uniform } from "./random.ts";

/** Length of the waves that make clumps, metres. */
const [SHORTEST_M, LONGEST_M] = [0.5, 3];
const WAVES = 6;

/**
 * The rows of leaves that are left when a share of them is gone: from the inner or the lower crown first, and in clumps.
 *
 * places  x, y, z after each other of each leaf or shoot
 */
export function leavesLeft(places: ArrayLike<number>, share: number, next: Uniform): Uint8Array {
  const count = places.length / 3;
  const at = (i: number, k: number) => places[3 * i + k] ?? 0;
  const middle = [0, 1, 2].map((k) => {
    let sum = 0;
    for (let i = 0; i < count; i += 1) sum += at(i, k);
    return sum / Math.max(1, count);
  });
  const [azimuth, outwards, clumped] = [2 * Math.PI * next(), 1.5 * next(), 3 * next() ** 2];
  const way = [0.6 * Math.cos(azimuth), 0.6 * Math.sin(azimuth), 0.8];
  const waves = Array.from({ length: WAVES }, () => {
    const wave = (2 * Math.PI) / (SHORTEST_M * (LONGEST_M / SHORTEST_M) ** next());
    const [turn, rise] = [2 * Math.PI * next(), 2 * next() - 1];
    const flat = Math.sqrt(1 - rise * rise);
    return {
      k: [wave * flat * Math.cos(turn), wave * flat * Math.sin(turn), wave * rise],
      phase: 2 * Math.PI * next(),
    };
  });
  const ranks = Float64Array.from({ length: count }, (_, i) => {
    const d = [0, 1, 2].map((k) => at(i, k) - (middle[k] ?? 0));
    const clump = waves.reduce(
      (sum, { k, phase }) => sum + Math.sin(k.reduce((s, w, a) => s + w * at(i, a), phase)),
      0,
    );
    return d.reduce((sum, value, k) => sum + value * (way[k] ?? 0), 0) + outwards * Math.hypot(...d) + clumped * clump;
  });
  const least = Float64Array.from(ranks).sort()[Math.floor(share * count)] ?? Number.POSITIVE_INFINITY;
  return Uint8Array.from(ranks, (rank) => (rank >= least ? 1 : 0));
}
