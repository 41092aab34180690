// What dense matching of photos makes of a stand: the surface that several cameras see, smoothed, with one height at each place.
import type { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/terrain.ts";
import { positions, values } from "./native.ts";
import { gaussian, uniform } from "./random.ts";

/** Metres between its points. */
const CELL_M = 0.1;
/** Cameras: straight above, and in eight directions this far from the vertical. Places that fewer than four see are no match. */
const TILT_DEG = 20;
const FEWEST_CAMERAS = 4;
/** A place is seen past what is this much higher, metres. */
const PAST_M = 0.3;
/** Width of the matching windows (standard deviation), smooth errors of the orientation and noise of the matches, metres. */
const SMOOTH_M = 0.15;
const WAVE_M = 0.03;
const WAVE_LENGTH_M = 1;
const NOISE_M = 0.015;

class Grid {
  readonly z: Float64Array;
  constructor(
    readonly nx: number,
    readonly ny: number,
    z?: Float64Array,
  ) {
    this.z = z ?? new Float64Array(nx * ny).fill(Number.NaN);
  }
  at(i: number, j: number): number {
    return i < 0 || j < 0 || i >= this.nx || j >= this.ny ? Number.NaN : (this.z[j * this.nx + i] as number);
  }
}

/** Gaussian weights, normalised over the values that are finite; the width in cells. */
function smooth(grid: Grid, width: number): Grid {
  const reach = Math.ceil(3 * width);
  const weights = Array.from({ length: reach + 1 }, (_, k) => Math.exp(-0.5 * (k / width) ** 2));
  const along = (from: Grid, di: number, dj: number) => {
    const to = new Grid(from.nx, from.ny);
    for (let j = 0; j < from.ny; j += 1)
      for (let i = 0; i < from.nx; i += 1) {
        let [sum, weight] = [0, 0];
        for (let k = -reach; k <= reach; k += 1) {
          const value = from.at(i + k * di, j + k * dj);
          if (!Number.isFinite(value)) continue;
          sum += (weights[Math.abs(k)] ?? 0) * value;
          weight += weights[Math.abs(k)] ?? 0;
        }
        to.z[j * from.nx + i] = weight > 0 ? sum / weight : Number.NaN;
      }
    return to;
  };
  return along(along(grid, 1, 0), 0, 1);
}

/** Number of cameras that see each place. */
function cameras(top: Grid, highest: number): Uint8Array {
  const seen = new Uint8Array(top.z.length).fill(1);
  const rise = CELL_M / Math.tan((TILT_DEG * Math.PI) / 180);
  for (let turn = 0; turn < 8; turn += 1) {
    const [u, v] = [Math.cos((turn * Math.PI) / 4), Math.sin((turn * Math.PI) / 4)];
    for (let j = 0; j < top.ny; j += 1)
      for (let i = 0; i < top.nx; i += 1) {
        const z = top.at(i, j);
        let free = true;
        for (let k = 1; free && z + k * rise < highest; k += 1)
          free = !(top.at(i + Math.round(k * u), j + Math.round(k * v)) > z + k * rise + PAST_M);
        if (free) seen[j * top.nx + i] = (seen[j * top.nx + i] ?? 0) + 1;
      }
  }
  return seen;
}

/**
 * x, y, z of a cloud made of photos. `xyz`: a dense scan of the same stand from above, metres. `filled`: places without a match are
 * drawn between the others, as programs do that match whole lines; otherwise they have no point.
 */
export async function photoSurface(xyz: Float64Array, filled: boolean, job: Job): Promise<Float64Array> {
  const [low, high] = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ] as [[number, number], [number, number]];
  let highest = -Infinity;
  for (let i = 0; i < xyz.length; i += 3) {
    for (const axis of [0, 1] as const) {
      low[axis] = Math.min(low[axis], xyz[i + axis] ?? 0);
      high[axis] = Math.max(high[axis], xyz[i + axis] ?? 0);
    }
    highest = Math.max(highest, xyz[i + 2] ?? 0);
  }
  const [nx, ny] = [0, 1].map((axis) => Math.floor(((high[axis] ?? 0) - (low[axis] ?? 0)) / CELL_M) + 1) as [
    number,
    number,
  ];
  const top = new Grid(nx, ny);
  for (let i = 0; i < xyz.length; i += 3) {
    const cell = Math.floor(((xyz[i + 1] ?? 0) - low[1]) / CELL_M) * nx + Math.floor(((xyz[i] ?? 0) - low[0]) / CELL_M);
    if (!((top.z[cell] as number) >= (xyz[i + 2] ?? 0))) top.z[cell] = xyz[i + 2] ?? 0;
  }
  const seen = cameras(top, highest);
  const matched = new Grid(nx, ny);
  const centre = (k: number, axis: 0 | 1) => low[axis] + ((axis === 0 ? k % nx : Math.floor(k / nx)) + 0.5) * CELL_M;
  const places: number[] = [];
  for (const [k, z] of top.z.entries())
    if (Number.isFinite(z) && (seen[k] ?? 0) >= FEWEST_CAMERAS) {
      matched.z[k] = z;
      places.push(centre(k, 0), centre(k, 1), z);
    }
  if (filled) {
    const frame = { min_x: low[0], min_y: low[1], cell: CELL_M, nx, ny };
    const column = positions(Float64Array.from(places));
    const tin = { frame, method: "tin", gaps: "fill", percentile: 100, at_centers: false } as const;
    const raster = await job.quiet().track(() => native.terrainRaster(column, null, tin, null));
    matched.z.set(Float64Array.from(values(raster.z), Number));
    raster.z.release();
  }
  const next = uniform(1);
  const wave = smooth(
    new Grid(
      nx,
      ny,
      Float64Array.from(top.z, () => gaussian(next)),
    ),
    WAVE_LENGTH_M / CELL_M,
  );
  const spread = Math.sqrt(wave.z.reduce((sum, value) => sum + value * value, 0) / wave.z.length);
  const surface = smooth(matched, SMOOTH_M / CELL_M);
  const out: number[] = [];
  for (const [k, z] of surface.z.entries()) {
    if (!Number.isFinite(z) || (!filled && !Number.isFinite(matched.z[k]))) continue;
    const aside = (axis: 0 | 1) => centre(k, axis) + 0.8 * CELL_M * (next() - 0.5);
    out.push(aside(0), aside(1), z + (WAVE_M * (wave.z[k] ?? 0)) / spread + NOISE_M * gaussian(next));
  }
  return Float64Array.from(out);
}
