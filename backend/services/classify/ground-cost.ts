import { availableParallelism } from "node:os";
import type { CostEstimate } from "../run/cost-warning.ts";
import type { CheckedGround, ClothPlan, GroundMeasured } from "./ground-filter.ts";

/**
 * CPU seconds, measured on two cores with clouds of 38 thousand to 9 million points: 11 to 13 ns per particle and step
 * while all particles fall, 0.09 us per point, 0.8 ns per cell and window cell (smrf); auto 0.13 us per point and 0.9 us per cell.
 */
const SECONDS = {
  clothStep: 1.2e-8,
  clothPoint: 1e-7,
  windowCell: 1e-9,
  autoPoint: 1.3e-7,
  autoCell: 1e-6,
} as const;
/** CPU seconds of an octree build per point. */
const OCTREE_POINT_SECONDS = 7e-7;

const MAX_AUTO_CELLS = 16e6;
const cellsOf = ([x, y]: readonly [number, number], size: number) => (x / size + 4) * (y / size + 4);

/** Bytes for the low outliers (cpp/ops/ground/low_outliers.h) and the labels of a run, besides the cloud. */
const sharedBytes = (points: number) => 22 * Math.min(25e6, 4 * points + 1024) + 9 * points;
/** Bytes for gathering the hits of a cloud that has misses or deletions. */
export const gatheredBytes = (rows: number, hits: number) => (rows === hits ? 0 : 28 * hits + rows);

/** Bytes for measuring spacing and relief: 40 for each of at most 250 thousand cells. */
export const measuringBytes = (points: number) => sharedBytes(points) + 10e6;

/** Upper bound of time and of memory besides the points. The cloth may settle long before its last step. */
export function groundCost(
  filter: CheckedGround,
  cloth: ClothPlan | null,
  { finite_count, extent }: GroundMeasured,
): CostEstimate {
  const cores = availableParallelism();
  if (cloth) {
    const { iterations } = cloth.params;
    const cpu = SECONDS.clothPoint * finite_count + SECONDS.clothStep * cloth.cost.grid_nodes * iterations;
    const auto = autoCost(finite_count, extent); // the labels are then compared
    return {
      seconds: cpu / cores + auto.seconds,
      bytes: Math.max(cloth.cost.bytes + 9 * finite_count, auto.bytes + finite_count),
    };
  }
  if (filter.method === "smrf") {
    const { cell_size, window_radius } = filter.params;
    const cells = cellsOf(extent, cell_size);
    const window = window_radius / cell_size;
    const cpu = SECONDS.clothPoint * finite_count + (SECONDS.windowCell * cells * window * (window + 1)) / 2;
    return { seconds: cpu / cores, bytes: sharedBytes(finite_count) + 30 * Math.min(25e6, cells) };
  }
  filter.method satisfies "auto" | "cloth" | "las_classification"; // a cloth has a plan, and the file is compared with auto
  return autoCost(finite_count, extent);
}

function autoCost(points: number, extent: GroundMeasured["extent"]): CostEstimate {
  const cells = Math.min(MAX_AUTO_CELLS, cellsOf(extent, 0.25));
  const cpu = SECONDS.autoPoint * points + SECONDS.autoCell * cells;
  return { seconds: cpu / availableParallelism(), bytes: sharedBytes(points) + 66 * cells };
}

/** Seconds for building the octree that shows the labels. */
export const octreeSeconds = (points: number) => (OCTREE_POINT_SECONDS * points) / availableParallelism();
