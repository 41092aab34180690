import { uniform } from "../../accuracy/random.ts";

export interface PlantedTree {
  readonly x: number;
  readonly y: number;
  readonly dbh_m: number;
  readonly height_m: number;
}

export interface BatchForest {
  /** x y z interleaved, metres. */
  readonly xyz: Float64Array;
  readonly trees: readonly PlantedTree[];
}

const LEAST_DISTANCE_M = 4;
const CROWN_FROM = 0.45;

/** Height of the land: hills of some metres. */
export const landHeight = (x: number, y: number): number =>
  2 * Math.sin(x / 17) + 1.5 * Math.cos(y / 13) + 0.05 * x + 0.3 * Math.sin(x / 3) * Math.cos(y / 4);

/** Trees with stems and crowns on hilly land, a square from (0, 0), the same for the same arguments. */
export function batchForest(
  side: number,
  {
    ground_per_m2,
    points_per_tree,
    trees_per_ha,
  }: { ground_per_m2: number; points_per_tree: number; trees_per_ha: number },
  seed = 1,
): BatchForest {
  const next = uniform(seed);
  const trees: PlantedTree[] = [];
  const wanted = Math.round((trees_per_ha * side * side) / 1e4);
  for (let tries = 0; trees.length < wanted && tries < 50 * wanted; tries += 1) {
    const [x, y] = [side * next(), side * next()];
    if (trees.some((tree) => Math.hypot(tree.x - x, tree.y - y) < LEAST_DISTANCE_M)) continue;
    trees.push({ x, y, dbh_m: 0.18 + 0.25 * next(), height_m: 12 + 10 * next() });
  }
  const ground = Math.round(ground_per_m2 * side * side);
  const xyz = new Float64Array(3 * (ground + trees.length * points_per_tree));
  let at = 0;
  const add = (x: number, y: number, z: number) => {
    xyz.set([x, y, z], at);
    at += 3;
  };
  const noise = () => 0.01 * (next() + next() + next() - 1.5);
  for (let i = 0; i < ground; i += 1) {
    const [x, y] = [side * next(), side * next()];
    add(x, y, landHeight(x, y) + noise());
  }
  for (const { x, y, dbh_m, height_m } of trees) {
    const base = landHeight(x, y);
    const stem = Math.round(points_per_tree / 3);
    for (let i = 0; i < stem; i += 1) {
      const up = 0.9 * height_m * next();
      const radius = (dbh_m / 2) * (1 - 0.8 * ((up - 1.3) / height_m)) + noise() / 2;
      const turn = 2 * Math.PI * next();
      add(x + radius * Math.cos(turn), y + radius * Math.sin(turn), base + up);
    }
    for (let i = stem; i < points_per_tree; i += 1) {
      const up = CROWN_FROM + (1 - CROWN_FROM) * next();
      const reach = 1.9 * Math.sin(Math.PI * Math.min(1, 0.15 + (0.85 * (up - CROWN_FROM)) / (1 - CROWN_FROM)));
      const radius = reach * Math.sqrt(next());
      const turn = 2 * Math.PI * next();
      add(x + radius * Math.cos(turn), y + radius * Math.sin(turn), base + up * height_m);
    }
  }
  return { xyz, trees };
}
