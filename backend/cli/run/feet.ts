import { type PointSample, samplePercentiles } from "../drawing/point-sample.ts";

/** Height of the layer above the lowest points in which stems stand apart, metres. */
const LAYER_M = 2.5;
/** Cells closer than this belong together, metres. */
const CELL_M = 0.5;
/** A foot has at least this share of the layer's points. */
const LEAST_SHARE = 0.04;
const LOWEST = 0.002;

/** Groups of points that stand apart near the ground: one for a single tree. */
export function footCount({ point_count, position }: PointSample): number {
  const z = (i: number) => position[3 * i + 2] ?? Number.NaN;
  const [low = 0] = samplePercentiles(point_count, z, [LOWEST]) ?? [];
  const cells = new Map<string, number>();
  let total = 0;
  for (let i = 0; i < point_count; i += 1) {
    if (!(z(i) <= low + LAYER_M)) continue;
    const key = `${Math.floor((position[3 * i] ?? 0) / CELL_M)} ${Math.floor((position[3 * i + 1] ?? 0) / CELL_M)}`;
    cells.set(key, (cells.get(key) ?? 0) + 1);
    total += 1;
  }
  let feet = 0;
  for (const start of [...cells.keys()]) {
    if (takeGroup(start, cells) >= LEAST_SHARE * total) feet += 1;
  }
  return feet;
}

/** Removes a cell and all that touch it, over others; the number of their points, 0 if the cell is gone. */
function takeGroup(start: string, cells: Map<string, number>): number {
  const open = [start];
  let count = 0;
  for (let key = open.pop(); key !== undefined; key = open.pop()) {
    const points = cells.get(key);
    if (points === undefined) continue;
    cells.delete(key);
    count += points;
    const [x = 0, y = 0] = key.split(" ").map(Number);
    for (let dx = -1; dx <= 1; dx += 1) for (let dy = -1; dy <= 1; dy += 1) open.push(`${x + dx} ${y + dy}`);
  }
  return count;
}
