/** A lattice of `side`^2 x 4 hits, 5 cm apart, and points far from it and from each other. No two clouds are equal. */
export function noisyCloud(side: number, strays: number): [number, number, number][] {
  const points: [number, number, number][] = [];
  for (let i = 0; i < side * side * 4; i += 1) {
    const layer = Math.floor(i / (side * side));
    points.push([(i % side) * 0.05, (Math.floor(i / side) % side) * 0.05, layer * 0.05]);
  }
  for (let i = 0; i < strays; i += 1) points.push([i * 2, -3 - (i % 5), 4 + (i % 3)]);
  return points;
}

export const STRAYS = 12;
/** 1600 hits and 12 strays. */
export const NOISY = noisyCloud(20, STRAYS);
export const CLEAN_COUNT = NOISY.length - STRAYS;
export const EXPECTED = NOISY.map((_, i) => (i < CLEAN_COUNT ? 1 : 2));

export const rowsOf = (points: readonly (readonly number[])[]) => points.map((point) => point.join(" "));
