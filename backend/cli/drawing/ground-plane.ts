import { type PointSample, samplePercentiles } from "./point-sample.ts";

/** A plane below (or above) the points, and how much of the area it covers. */
export interface GroundPlane {
  /** Share of the occupied cells whose lowest (highest) point is near the plane. */
  readonly share: number;
  /** The same within a few centimetres. */
  readonly flat_share: number;
  /** Median height of the cells of `flat_share`, metres, stored frame; NaN without any. */
  readonly flat_level: number;
  /** Share of the occupied cells with points in the lowest (highest) tenth of the height. */
  readonly base_share: number;
  /** Area of the occupied cells. */
  readonly occupied_m2: number;
}

/** Cells along the longer side. */
const CELLS = 40;
/** Distance to the plane that counts as near: a share of the height, at least the metres. */
const NEAR_SHARE = 0.06;
const NEAR_M = 0.15;
const FLAT_M = 0.06;
const ROUNDS = 25;
/** Strays of one cell at different depths. */
const STRAY_ROUNDS = 6;
/** Keys of cells: the next column, with a margin so that a row's end is not next to another's start; the eight around. */
const ROW = 2 * CELLS;
const AROUND = [-ROW - 1, -ROW, -ROW + 1, -1, 1, ROW - 1, ROW, ROW + 1];

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}

/**
 * Fits a plane to the lowest (or highest) points of the cells of a coarse grid: least squares, repeated without the
 * cells that lie farther inside the cloud than the median, until the plane rests on the outermost cells or most are near it.
 */
export function groundPlane(sample: PointSample, side: "below" | "above"): GroundPlane {
  const sign = side === "below" ? 1 : -1;
  const ends = [0, 1, 2].map(
    (axis) =>
      samplePercentiles(sample.point_count, (i) => sample.position[3 * i + axis] ?? Number.NaN, [0.002, 0.998]) as
        | [number, number]
        | undefined,
  );
  const [x, y, z] = ends;
  if (!x || !y || !z) return { share: 0, flat_share: 0, flat_level: Number.NaN, base_share: 0, occupied_m2: 0 };
  const size = Math.max(x[1] - x[0], y[1] - y[0]) / CELLS || 1;
  const cells = outermost(sample, { x, y, z, size, sign });
  const height = z[1] - z[0];
  const near = nearLimit(z);
  const nearPlane = (limit: number) => {
    const plane = fitted(cells, limit);
    return cells.filter((cell) => Math.abs(cell.z - plane(cell)) <= limit);
  };
  const share = (some: readonly Cell[]) => some.length / Math.max(1, cells.length);
  const flat = nearPlane(FLAT_M);
  const levels = flat.map((cell) => sign * cell.z).sort((a, b) => a - b);
  const base = (side === "below" ? z[0] : -z[1]) + height / 10;
  return {
    share: share(nearPlane(near)),
    flat_share: share(flat),
    flat_level: levels[Math.floor(levels.length / 2)] ?? Number.NaN,
    base_share: share(cells.filter((cell) => cell.z <= base)),
    occupied_m2: cells.length * size * size,
  };
}

/** Share of the cells of the coarse grid whose points span at least `height`. */
export function tallShare(sample: PointSample, height: number): number {
  const { point_count, position } = sample;
  const end = (axis: number) =>
    samplePercentiles(point_count, (i) => position[3 * i + axis] ?? Number.NaN, [0.002, 0.998]) ?? [0, 0];
  const [x, y] = [end(0), end(1)];
  const size = Math.max((x[1] ?? 0) - (x[0] ?? 0), (y[1] ?? 0) - (y[0] ?? 0)) / CELLS || 1;
  const spans = new Map<number, [number, number]>();
  for (let i = 0; i < point_count; i += 1) {
    const [px = 0, py = 0, pz = 0] = [position[3 * i], position[3 * i + 1], position[3 * i + 2]];
    const key = Math.floor((px - (x[0] ?? 0)) / size) * ROW + Math.floor((py - (y[0] ?? 0)) / size);
    const [low, high] = spans.get(key) ?? [pz, pz];
    spans.set(key, [Math.min(low, pz), Math.max(high, pz)]);
  }
  return [...spans.values()].filter(([low, high]) => high - low >= height).length / Math.max(1, spans.size);
}

interface Frame {
  readonly x: readonly [number, number];
  readonly y: readonly [number, number];
  readonly z: readonly [number, number];
  readonly size: number;
  readonly sign: 1 | -1;
}

/** The lowest point (times sign) of every occupied cell, without strays: a cell is judged by its neighbours. */
function outermost(sample: PointSample, frame: Frame): Cell[] {
  const near = nearLimit(frame.z);
  const floors = new Map<number, number>();
  let cells = lowestPoints(sample, frame, floors);
  for (let round = 0; round < STRAY_ROUNDS; round += 1) {
    const strays = [...cells].filter(([key, { z }]) => z < lowNeighbor(cells, key) - near);
    if (strays.length === 0) break;
    for (const [key, { z }] of strays) floors.set(key, z + near);
    cells = lowestPoints(sample, frame, floors);
  }
  return [...cells.values()];
}

/** The height that a fifth of a cell's neighbours lie below; -Infinity without neighbours. */
function lowNeighbor(cells: ReadonlyMap<number, Cell>, key: number): number {
  const heights = AROUND.flatMap((step) => cells.get(key + step)?.z ?? []).sort((a, b) => a - b);
  return heights[Math.floor(heights.length / 5)] ?? -Infinity;
}

/**
 * The lowest point (times sign) of every cell above the cell's floor, without the outer 0.2 % of each axis. A single one far
 * below the next two, which are near each other, is a stray: the next one counts.
 */
function lowestPoints(
  { point_count, position }: PointSample,
  { x, y, z, size, sign }: Frame,
  floors: ReadonlyMap<number, number>,
): Map<number, Cell> {
  const found = new Map<number, Cell[]>();
  for (let i = 0; i < point_count; i += 1) {
    const [px = 0, py = 0, pz = 0] = [position[3 * i], position[3 * i + 1], position[3 * i + 2]];
    if (px < x[0] || px > x[1] || py < y[0] || py > y[1] || pz < z[0] || pz > z[1]) continue;
    const key = Math.floor((px - x[0]) / size) * ROW + Math.floor((py - y[0]) / size);
    const lowest = found.get(key) ?? [];
    if (lowest.length === 3 && sign * pz >= (lowest[2]?.z ?? 0)) continue;
    if (sign * pz <= (floors.get(key) ?? -Infinity)) continue;
    const three = [...lowest, { x: px - x[0], y: py - y[0], z: sign * pz }].sort((p, q) => p.z - q.z);
    found.set(key, three.slice(0, 3));
  }
  const near = nearLimit(z);
  const cells = new Map<number, Cell>();
  for (const [key, [first, second, third]] of found) {
    const isStray = first && second && third && second.z - first.z > near && third.z - second.z <= near;
    cells.set(key, (isStray ? second : first) as Cell);
  }
  return cells;
}

/** Distance to the plane that counts as near. */
const nearLimit = (z: Frame["z"]) => Math.max(NEAR_M, NEAR_SHARE * (z[1] - z[0]));

/** The plane that rests on the lowest cells; as long as most are within `near` of it, none is left out. */
function fitted(cells: readonly Cell[], near: number): (cell: Cell) => number {
  let kept = cells;
  let plane = leastSquares(kept);
  for (let round = 0; round < ROUNDS; round += 1) {
    const distances = kept.map((cell) => cell.z - plane(cell)).sort((a, b) => a - b);
    const middle = distances[Math.floor(distances.length / 2)] ?? 0;
    const spread = (distances[Math.floor(0.75 * distances.length)] ?? 0) - middle;
    const limit = middle + Math.max(near, spread);
    const next = kept.filter((cell) => cell.z - plane(cell) <= limit);
    if (next.length === kept.length || next.length < 6) break;
    kept = next;
    plane = leastSquares(kept);
  }
  return plane;
}

function leastSquares(cells: readonly Cell[]): (cell: Cell) => number {
  const n = Math.max(1, cells.length);
  const mean = (value: (cell: Cell) => number) => cells.reduce((sum, cell) => sum + value(cell), 0) / n;
  const [mx, my, mz] = [mean(({ x }) => x), mean(({ y }) => y), mean(({ z }) => z)];
  const [xx, yy, xy, xz, yz] = [
    mean(({ x }) => (x - mx) ** 2),
    mean(({ y }) => (y - my) ** 2),
    mean(({ x, y }) => (x - mx) * (y - my)),
    mean(({ x, z }) => (x - mx) * (z - mz)),
    mean(({ y, z }) => (y - my) * (z - mz)),
  ];
  const det = xx * yy - xy * xy;
  // Cells on one line have no slope across it; a level plane is then the honest answer.
  const [a, b] = det > 1e-9 * xx * yy ? [(xz * yy - yz * xy) / det, (yz * xx - xz * xy) / det] : [0, 0];
  return ({ x, y }) => mz + a * (x - mx) + b * (y - my);
}
