// Convex hulls in the plane, and how much of an area they share.

export type Place = readonly [number, number];

const turn = (a: Place, b: Place, c: Place): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** Corners of the convex hull, counter-clockwise. Source: Andrew, Inf. Process. Lett. 9(5), 1979. */
export function convexHull(places: readonly Place[]): Place[] {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: readonly Place[]): Place[] => {
    const chain: Place[] = [];
    for (const place of list) {
      while (chain.length > 1 && turn(chain.at(-2) as Place, chain.at(-1) as Place, place) <= 0) chain.pop();
      chain.push(place);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

export function polygonArea(corners: readonly Place[]): number {
  return corners.reduce((sum, [x, y], i) => {
    const [u, v] = corners[(i + 1) % corners.length] as Place;
    return sum + (x * v - u * y) / 2;
  }, 0);
}

export function perimeter(corners: readonly Place[]): number {
  return corners.reduce((sum, [x, y], i) => {
    const [u, v] = corners[(i + 1) % corners.length] as Place;
    return sum + Math.hypot(u - x, v - y);
  }, 0);
}

/** Metres that a place lies outside a convex polygon; 0 or less inside. */
export function outside(corners: readonly Place[], [x, y]: Place): number {
  let most = -Infinity;
  for (const [i, [a, b]] of corners.entries()) {
    const [u, v] = corners[(i + 1) % corners.length] as Place;
    const edge = Math.hypot(u - a, v - b);
    if (edge > 0) most = Math.max(most, ((x - a) * (v - b) - (y - b) * (u - a)) / edge);
  }
  return most;
}

/** Of all crowns together, square metres. */
export interface CrownCover {
  /** Areas of all crowns. */
  readonly crowns_m2: number;
  /** What they cover, once. */
  readonly covered_m2: number;
  /** What two or more cover, once. */
  readonly covered_twice_m2: number;
  /** Of the area of the crowns, the share that another crown covers, too. */
  readonly shared: number;
}

/** Counts the crowns over the centres of cells of `cell_m`. */
export function crownCover(crowns: readonly (readonly Place[])[], cell_m = 0.1): CrownCover {
  const counts = new Map<number, number>();
  const key = (i: number, j: number) => (j + 1e6) * 4e6 + i + 1e6;
  for (const corners of crowns) {
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
    const cells = (values: readonly number[]) =>
      [Math.floor(Math.min(...values) / cell_m), Math.ceil(Math.max(...values) / cell_m)] as const;
    const [[west, east], [south, north]] = [cells(xs), cells(ys)];
    for (let j = south; j <= north; j += 1)
      for (let i = west; i <= east; i += 1)
        if (outside(corners, [(i + 0.5) * cell_m, (j + 0.5) * cell_m]) <= 0)
          counts.set(key(i, j), (counts.get(key(i, j)) ?? 0) + 1);
  }
  let [once, twice, all, shared] = [0, 0, 0, 0];
  for (const count of counts.values()) {
    once += 1;
    all += count;
    if (count > 1) twice += 1;
    if (count > 1) shared += count;
  }
  const area = cell_m ** 2;
  return {
    crowns_m2: all * area,
    covered_m2: once * area,
    covered_twice_m2: twice * area,
    shared: all === 0 ? 0 : shared / all,
  };
}
