import type { Rgb } from "./color-ramp.ts";
import { type PointSample, samplePercentiles } from "./point-sample.ts";
import { encodePng, type Raster } from "./render.ts";
import { layerAt, type SurfaceGrid } from "./surface-grid.ts";
import { sceneBox, VIEWS, type ViewFrame, viewFrame } from "./view-frame.ts";

/** Depth of the slice, metres. */
export const PROFILE_WIDTH_M = 2;

export type PointClass = "plant" | "ground" | "noise";
export const CLASS_COLORS: Readonly<Record<PointClass, Rgb>> = {
  plant: [0x3f, 0x8f, 0x4f],
  ground: [0xa6, 0x6a, 0x2c],
  noise: [0xd6, 0x20, 0x3a],
};
/** Drawing order: rare and thin classes come last, over the others, so that they stay visible. */
const ORDER: readonly PointClass[] = ["plant", "ground", "noise"];

/** A slice through the cloud along its longer horizontal axis. */
export interface GroundProfile {
  readonly frame: ViewFrame;
  readonly png: Uint8Array;
  /** Drawn points per class. */
  readonly counts: Readonly<Record<PointClass, number>>;
  /** Terrain along the middle of the slice: runs of cells with a value as (coordinate along, z), stored frame. */
  readonly terrain: readonly (readonly (readonly [number, number])[])[];
  /** Coordinate of the middle of the slice on the other axis, stored frame. */
  readonly at_stored: number;
}

/** Draws the slice at the median of the points; undefined if there are no points in it. */
export async function groundProfile(
  sample: PointSample,
  grid: SurfaceGrid | null,
  longestPx: number,
): Promise<GroundProfile | undefined> {
  const box = sceneBox(sample);
  if (!box) return undefined;
  const along = box.max[0] - box.min[0] >= box.max[1] - box.min[1] ? 0 : 1;
  const across = along === 0 ? 1 : 0;
  const { point_count: n, position } = sample;
  const [at_stored = 0] = samplePercentiles(n, (i) => position[3 * i + across] ?? Number.NaN, [0.5]) ?? [];
  const rows: number[] = [];
  for (let i = 0; i < n; i += 1) {
    if (Math.abs((position[3 * i + across] ?? Number.NaN) - at_stored) <= PROFILE_WIDTH_M / 2) rows.push(i);
  }
  if (rows.length === 0) return undefined;
  const view = VIEWS.find(({ right, up }) => right === along && up === 2);
  if (!view) throw new Error("no view along the slice");
  const inside = (i: number) =>
    [0, 1, 2].every((axis) => {
      const value = position[3 * i + axis] ?? Number.NaN;
      return value >= (box.min[axis] ?? 0) && value <= (box.max[axis] ?? 0);
    });
  const drawn = rows.filter(inside);
  const heights = drawn.map((i) => position[3 * i + 2] ?? 0).sort((a, b) => a - b);
  const slice = {
    min: [box.min[0], box.min[1], heights[0] ?? box.min[2]] as const,
    max: [box.max[0], box.max[1], heights.at(-1) ?? box.max[2]] as const,
  };
  const frame = viewFrame(view, { min: [...slice.min], max: [...slice.max] }, longestPx);
  const { raster, counts } = drawSlice(sample, drawn, frame, grid);
  const terrain = grid ? terrainLine(grid, along, at_stored) : [];
  for (const run of terrain) drawRun(raster, frame, run);
  return { frame, png: await encodePng(raster), counts, terrain, at_stored };
}

/** Points at most this far above and below the terrain are drawn as ground whatever their label; what lies deeper was left out of it. */
export const GROUND_LAYER_M = 0.1;
const BELOW_M = 0.5;

/** Whether a point lies in the layer of the ground. */
function onTerrain({ position }: PointSample, i: number, grid: SurfaceGrid | null): boolean {
  if (!grid) return false;
  const terrain = layerAt(grid, grid.z, position[3 * i] ?? 0, position[3 * i + 1] ?? 0);
  const above = (position[3 * i + 2] ?? 0) - terrain;
  return above <= GROUND_LAYER_M && above >= -BELOW_M; // false without a terrain there
}

/** Class of a point. Noise takes precedence over ground: a noise point is on no surface. */
export function classOf({ ground, noise }: PointSample, i: number): PointClass {
  if (noise?.[i] === 2) return "noise";
  return ground?.[i] === 1 ? "ground" : "plant";
}

/** Width of the picture in dots; a point is drawn as one dot. */
const DOTS_ACROSS = 450;

function drawSlice(sample: PointSample, rows: readonly number[], frame: ViewFrame, grid: SurfaceGrid | null) {
  const { width_px: width, height_px: height, metres_per_px, left_stored, top_stored, view } = frame;
  const data = new Uint8Array(4 * width * height).fill(255);
  const counts: Record<PointClass, number> = { plant: 0, ground: 0, noise: 0 };
  const classes = rows.map((i) => {
    const label = classOf(sample, i);
    return label === "plant" && onTerrain(sample, i, grid) ? "ground" : label;
  });
  for (const wanted of ORDER) {
    const [r, g, b] = CLASS_COLORS[wanted];
    const size = Math.max(2, Math.round(width / DOTS_ACROSS)) * (wanted === "noise" ? 2 : 1);
    for (const [k, i] of rows.entries()) {
      if (classes[k] !== wanted) continue;
      counts[wanted] += 1;
      const u = Math.floor(((sample.position[3 * i + view.right] ?? 0) - left_stored) / metres_per_px - size / 2 + 0.5);
      const v = Math.floor((top_stored - (sample.position[3 * i + view.up] ?? 0)) / metres_per_px - size / 2 + 0.5);
      for (let y = Math.max(0, v); y < Math.min(height, v + size); y += 1) {
        for (let x = Math.max(0, u); x < Math.min(width, u + size); x += 1)
          data.set([r, g, b, 255], 4 * (y * width + x));
      }
    }
  }
  const raster: Raster = { width, height, data };
  return { raster, counts };
}

export const TERRAIN_COLOR: Rgb = [0x10, 0x15, 0x1c];

/** Draws a dark line, one pixel wide, through the points of a run. */
function drawRun({ width, height, data }: Raster, frame: ViewFrame, run: readonly (readonly [number, number])[]): void {
  const { metres_per_px, left_stored, top_stored } = frame;
  const pixels = run.map(
    ([along, z]) => [(along - left_stored) / metres_per_px, (top_stored - z) / metres_per_px] as const,
  );
  for (const [k, [x, y]] of pixels.entries()) {
    const [from_x, from_y] = pixels[k - 1] ?? [x, y];
    const steps = Math.max(1, Math.ceil(Math.max(Math.abs(x - from_x), Math.abs(y - from_y))));
    for (let step = 0; step <= steps; step += 1) {
      const u = Math.floor(from_x + ((x - from_x) * step) / steps);
      const v = Math.floor(from_y + ((y - from_y) * step) / steps);
      if (u >= 0 && u < width && v >= 0 && v < height) data.set([...TERRAIN_COLOR, 255], 4 * (v * width + u));
    }
  }
}

/** Heights of the cells along a line, in runs that end at voids. */
export function terrainLine(
  { nx, ny, cell, origin, z }: SurfaceGrid,
  along: 0 | 1,
  at: number,
): (readonly [number, number])[][] {
  const fixed = Math.floor((at - origin[along === 0 ? 1 : 0]) / cell);
  const [count, others] = along === 0 ? [nx, ny] : [ny, nx];
  if (fixed < 0 || fixed >= others) return [];
  const runs: (readonly [number, number])[][] = [[]];
  for (let k = 0; k < count; k += 1) {
    const value = z[along === 0 ? fixed * nx + k : k * nx + fixed] ?? Number.NaN;
    if (Number.isNaN(value)) runs.push([]);
    else runs.at(-1)?.push([origin[along] + (k + 0.5) * cell, value]);
  }
  return runs.filter((run) => run.length > 0);
}
