type Point = [number, number, number];

/** Height of the ground that the clouds here stand on. */
export const rolling = (x: number, y: number) => 0.6 * Math.sin(x / 4) + 0.4 * Math.cos(y / 5);

/** `side` x `side` metres of rolling ground, points `step` apart, then as many crowns 3 to 6 m above it. */
export function wooded(side: number, step: number, steepness = 0): { points: Point[]; ground_count: number } {
  const points: Point[] = [];
  const count = Math.round(side / step) + 1;
  const height = (x: number, y: number) => rolling(x, y) + steepness * x;
  const ground = (i: number, j: number): Point => [i * step, j * step, height(i * step, j * step)];
  for (let j = 0; j < count; j += 1) for (let i = 0; i < count; i += 1) points.push(ground(i, j));
  const ground_count = points.length;
  for (let i = 0; i < ground_count / 4; i += 1) {
    const x = side * ((i * 0.7548776662) % 1);
    const y = side * ((i * 0.5698402909) % 1);
    points.push([x, y, height(x, y) + 3 + 3 * ((i * 0.6180339887) % 1)]);
  }
  return { points, ground_count };
}

/** 41 x 41 points of ground half a metre apart, 420 of crowns. */
export const WOODED = wooded(20, 0.5);
export const EXPECTED_GROUND = WOODED.points.map((_, i) => (i < WOODED.ground_count ? 1 : 2));

/** Share of rows on which two lists of labels agree. */
export function agreement(a: ArrayLike<number>, b: ArrayLike<number>): number {
  if (a.length !== b.length || a.length === 0) return 0;
  let same = 0;
  for (let i = 0; i < a.length; i += 1) same += a[i] === b[i] ? 1 : 0;
  return same / a.length;
}
