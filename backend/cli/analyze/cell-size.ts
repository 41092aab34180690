import type { CreateSessionTail } from "../../../shared/contract/cloud-session/create.ts";
import type { PointSample } from "../drawing/point-sample.ts";

/** Points per cell by default. */
const POINTS_PER_CELL = 4;
/** Points of the sample per cell in which the area is measured. */
const AREA_POINTS = 8;
/** Most cells of a raster by default. */
const MOST_CELLS = 1_000_000;
const LEAST_M = 0.01;

/** Cell size and area of the rasters, stored frame. */
export interface RasterPlace {
  readonly cell_size: number;
  /** Whole cells in the true world: every raster of a run has the same cells. */
  readonly bbox: [number, number, number, number];
}

/**
 * Points of the cloud per square metre of the area that they cover seen from above. The area is that of the cells with
 * points of the sample, in cells so large that they hold several.
 */
export function pointDensity({ point_count: n, total_count, position }: PointSample): number | null {
  let [low_x, low_y, high_x, high_y] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < n; i += 1) {
    const [x = 0, y = 0] = [position[3 * i], position[3 * i + 1]];
    [low_x, high_x] = [Math.min(low_x, x), Math.max(high_x, x)];
    [low_y, high_y] = [Math.min(low_y, y), Math.max(high_y, y)];
  }
  const width = Math.max(high_x - low_x, high_y - low_y);
  if (!(width > 0)) return null;
  for (let side = 1024; side >= 1; side /= 2) {
    const occupied = new Set<number>();
    const size = width / side;
    for (let i = 0; i < n; i += 1) {
      const x = Math.min(side - 1, Math.floor(((position[3 * i] ?? 0) - low_x) / size));
      const y = Math.min(side - 1, Math.floor(((position[3 * i + 1] ?? 0) - low_y) / size));
      occupied.add(x * side + y);
    }
    if (n >= AREA_POINTS * occupied.size || side === 1) return total_count / (occupied.size * size * size);
  }
  return null;
}

/** The smallest 1, 2 or 5 times a power of ten, in metres, with about four points per cell and at most a million cells. */
export function defaultCell(density: number, width: number, height: number): number {
  const wanted = Math.max(LEAST_M, Math.sqrt(POINTS_PER_CELL / density), Math.sqrt((width * height) / MOST_CELLS));
  const power = Math.floor(Math.log10(wanted) + 1e-9);
  const digits = [1, 2, 5, 10].map((digit) => Number(`${digit}e${power}`));
  return digits.find((cell) => cell >= wanted * (1 - 1e-9)) ?? 10 ** (power + 1);
}

/** What the rasters cover, stored frame. */
export type Covered = Pick<CreateSessionTail, "tight_bounds" | "world_shift">;

/** Cells of the rasters; undefined for a cloud without an area. */
export function rasterPlace(
  { tight_bounds: bounds, world_shift }: Covered,
  sample: PointSample,
  asked: number | undefined,
): RasterPlace | undefined {
  const density = pointDensity(sample);
  if (density === null || bounds === null) return undefined;
  const { min, max } = bounds;
  const cell = asked ?? defaultCell(density, max[0] - min[0], max[1] - min[1]);
  const edge = (value: number, axis: 0 | 1, round: (n: number) => number) => {
    const shift = world_shift?.[axis] ?? 0;
    return round((value + shift) / cell) * cell - shift;
  };
  return {
    cell_size: cell,
    bbox: [
      edge(min[0], 0, Math.floor),
      edge(min[1], 1, Math.floor),
      edge(max[0], 0, Math.ceil),
      edge(max[1], 1, Math.ceil),
    ],
  };
}
