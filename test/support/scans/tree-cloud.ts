type Point = [number, number, number];

/** Trees of different heights on rolling ground, 4 m apart, crowns and stems apart. */
export interface Orchard {
  /** Trees first, then the ground. */
  readonly points: Point[];
  /** Tree of each point from 1, in the order of x, then y; 0 = ground. */
  readonly trees: number[];
  /** 1 = ground, 2 = plant. */
  readonly ground_class: number[];
  /** Stem at 1.3 m of each tree. */
  readonly stems: Point[];
  readonly count: number;
}

const rise = (x: number, y: number) => 0.3 * Math.sin(x / 6) + 0.2 * Math.cos(y / 7);
const fraction = (value: number) => value - Math.floor(value);

/** `across` x `across` trees with about `per_tree` points each. */
export function orchard(across: number, per_tree = 400): Orchard {
  const points: Point[] = [];
  const trees: number[] = [];
  const stems: Point[] = [];
  for (let i = 0; i < across; i += 1) {
    for (let j = 0; j < across; j += 1) {
      const tree = i * across + j;
      const [x, y] = [4 * i + 2.5, 4 * j + 2.5];
      const height = 5 + 3 * fraction(tree * 0.618);
      stems.push([x, y, rise(x, y) + 1.3]);
      for (let k = 0; k < per_tree; k += 1) {
        const angle = 2.399963 * k;
        const stem = k % 2 === 0;
        const r = stem ? 0.08 : 1.3 * Math.sqrt(fraction(k * 0.7548776662));
        const low = stem ? 0.1 + 0.7 * height * fraction(k * 0.5698402909) : height * (1 - 0.35 * (r / 1.3));
        const high = stem ? 0 : -0.8 * fraction(k * 0.381966);
        points.push([x + r * Math.cos(angle), y + r * Math.sin(angle), rise(x, y) + low + high]);
        trees.push(tree + 1);
      }
    }
  }
  const planted = points.length;
  for (let x = 0; x <= 4 * across + 1; x += 0.5)
    for (let y = 0; y <= 4 * across + 1; y += 0.5) points.push([x, y, rise(x, y)]);
  const ground_class = points.map((_, i) => (i < planted ? 2 : 1));
  return {
    points,
    trees: [...trees, ...Array<number>(points.length - planted).fill(0)],
    ground_class,
    stems,
    count: across * across,
  };
}

/** True if both lists number the same groups of points, whatever the numbers, and have 0 at the same places. */
export function samePartition(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length || a.length === 0) return false;
  const there = new Map<number, number>();
  const back = new Map<number, number>();
  for (let i = 0; i < a.length; i += 1) {
    const [from, to] = [a[i] ?? -1, b[i] ?? -1];
    if ((from === 0) !== (to === 0)) return false;
    if ((there.get(from) ?? to) !== to || (back.get(to) ?? from) !== from) return false;
    there.set(from, to);
    back.set(to, from);
  }
  return true;
}
