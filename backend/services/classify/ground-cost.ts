import { availableParallelism } from "node:os";
import type { CostEstimate } from "../run/cost-warning.ts";
import type { CheckedGround, ClothPlan, GroundMeasured } from "./ground-filter.ts";

/**
 * CPU seconds of this build, measured on two cores with clouds of 38 thousand to 9 million points: 10 to 14 ns per
 * particle and step, 0.09 us a point, 21 ns per cell and cell of the window; auto 0.13 us a point and 0.9 us a cell.
 */
const SECONDS = {
  clothStep: 1.4e-8,
  clothPoint: 1e-7,
  windowCell: 2.1e-8,
  autoPoint: 1.3e-7,
  autoCell: 1e-6,
} as const;
/** Of an octree, a point. */
const OCTREE_POINT_SECONDS = 7e-7;

const MAX_AUTO_CELLS = 16e6;
const cellsOf = ([x, y]: readonly [number, number], size: number) => (x / size + 4) * (y / size + 4);

/** Bytes besides the cloud for a run's low outliers (cpp/ops/ground/low_outliers.h) and labels. */
const sharedBytes = (points: number) => 22 * Math.min(25e6, 4 * points + 1024) + 9 * points;
/** Hits of a cloud with misses or deletions are gathered first. */
export const gatheredBytes = (rows: number, hits: number) => (rows === hits ? 0 : 28 * hits + rows);

/** Bytes that measuring spacing and relief takes: 40 for each of at most 250 thousand cells. */
export const measuringBytes = (points: number) => sharedBytes(points) + 10e6;

/** What a filter takes at most besides the points. The cloth may settle long before its last step. */
export function groundCost(
  filter: CheckedGround,
  cloth: ClothPlan | null,
  { finite_count, extent }: GroundMeasured,
): CostEstimate {
  const cores = availableParallelism();
  if (cloth) {
    const { iterations } = cloth.params;
    const cpu = SECONDS.clothPoint * finite_count + SECONDS.clothStep * cloth.cost.grid_nodes * iterations;
    return { seconds: cpu / cores, bytes: cloth.cost.bytes + 9 * finite_count };
  }
  if (filter.method === "smrf") {
    const { cell_size, window_radius } = filter.params;
    const cells = cellsOf(extent, cell_size);
    const window = window_radius / cell_size;
    const cpu = SECONDS.clothPoint * finite_count + (SECONDS.windowCell * cells * window * (window + 1)) / 2;
    return { seconds: cpu / cores, bytes: sharedBytes(finite_count) + 30 * Math.min(25e6, cells) };
  }
  const cells = Math.min(MAX_AUTO_CELLS, cellsOf(extent, 0.25));
  const cpu = SECONDS.autoPoint * finite_count + SECONDS.autoCell * cells;
  return { seconds: cpu / cores, bytes: sharedBytes(finite_count) + 60 * cells };
}

/** Seconds of the octree that shows the labels. */
export const octreeSeconds = (points: number) => (OCTREE_POINT_SECONDS * points) / availableParallelism();
