import { type RampName, rampTable } from "./color-ramp.ts";
import { samplePercentiles } from "./point-sample.ts";
import { encodePng, type Raster } from "./render.ts";
import { cellAt, layerAt, type SurfaceGrid } from "./surface-grid.ts";
import { VIEWS, type ViewFrame, viewFrame } from "./view-frame.ts";

/** A picture of a raster from above. */
export interface RasterPicture {
  readonly name: "dtm_hillshade" | "chm";
  readonly title: string;
  readonly frame: ViewFrame;
  readonly png: Uint8Array;
  readonly bar: { readonly ramp: RampName; readonly range: readonly [number, number]; readonly unit: string };
  /** True if the values of the bar are heights in the stored frame. */
  readonly is_height: boolean;
}

const VOID = 255;
/** Share of its colour that a fully shaded slope keeps. */
const DARKEST = 0.25;

/** Draws the terrain, coloured by height and shaded by its relief. Undefined if all cells are void. */
export function hillshadePicture(grid: SurfaceGrid, longestPx: number): Promise<RasterPicture | undefined> {
  const { hillshade } = grid;
  const light = (x: number, y: number) => DARKEST + (1 - DARKEST) * (hillshade ? layerAt(grid, hillshade, x, y) : 1);
  const title = "Terrain (DTM), shaded relief";
  return picture({ name: "dtm_hillshade", title, unit: "z, m", is_height: true }, grid, light, longestPx);
}

/** Draws canopy heights from 0 on. Undefined if all cells are void. */
export function canopyPicture(grid: SurfaceGrid, longestPx: number): Promise<RasterPicture | undefined> {
  const title = "Canopy height model (CHM)";
  return picture({ name: "chm", title, unit: "height, m", is_height: false }, grid, () => 1, longestPx);
}

/** Share of its colour that a place keeps; NaN = all. */
type Light = (x: number, y: number) => number;
type Kind = Pick<RasterPicture, "name" | "title" | "is_height"> & { readonly unit: string };

async function picture(
  { unit, ...kind }: Kind,
  grid: SurfaceGrid,
  light: Light,
  longestPx: number,
): Promise<RasterPicture | undefined> {
  const ends = samplePercentiles(grid.z.length, (i) => grid.z[i] ?? Number.NaN, [0.005, 0.995]);
  if (!ends) return undefined;
  const range = [kind.is_height ? (ends[0] ?? 0) : 0, ends[1] ?? 0] as const;
  const ramp = "viridis";
  const frame = gridFrame(grid, longestPx);
  const raster = drawGrid(grid, frame, { ramp, range }, light);
  return { ...kind, frame, png: await encodePng(raster), bar: { ramp, range, unit } };
}

function gridFrame({ nx, ny, cell, origin: [x, y] }: SurfaceGrid, longestPx: number): ViewFrame {
  const [top] = VIEWS;
  if (!top) throw new Error("no top view");
  return viewFrame(top, { min: [x, y, 0], max: [x + nx * cell, y + ny * cell, 0] }, longestPx);
}

export interface GridScale {
  readonly ramp: RampName;
  readonly range: readonly [number, number];
  /** true: a pixel shows the value of its cell; otherwise the value between the cell centres around it. */
  readonly blocks?: true;
}

/** Draws a grid. Void cells keep their squares. */
export function drawGrid(
  grid: SurfaceGrid,
  frame: ViewFrame,
  { ramp, range: [low, high], blocks }: GridScale,
  light: Light = () => 1,
): Raster {
  const valueAt = blocks ? cellAt : layerAt;
  const { width_px: width, height_px: height, metres_per_px, left_stored, top_stored } = frame;
  const table = rampTable(ramp);
  const perUnit = high > low ? 255 / (high - low) : 0;
  const data = new Uint8Array(4 * width * height).fill(VOID);
  for (let row = 0; row < height; row += 1) {
    const y = top_stored - (row + 0.5) * metres_per_px;
    for (let column = 0; column < width; column += 1) {
      const x = left_stored + (column + 0.5) * metres_per_px;
      const value = valueAt(grid, grid.z, x, y);
      if (Number.isNaN(value)) continue;
      const step = high > low ? Math.min(255, Math.max(0, Math.round((value - low) * perUnit))) : 128;
      const shade = light(x, y);
      const to = 4 * (row * width + column);
      for (let k = 0; k < 3; k += 1)
        data[to + k] = Math.round((table[3 * step + k] ?? 0) * (Number.isNaN(shade) ? 1 : shade));
    }
  }
  return { width, height, data };
}
