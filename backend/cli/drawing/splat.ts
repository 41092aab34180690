import { closeGaps } from "./gap-fill.ts";
import type { PointSample } from "./point-sample.ts";
import type { ViewFrame } from "./view-frame.ts";
import { NO_POINT, type Visibility } from "./visibility.ts";

/** Subpixels per picture pixel and axis: antialiasing by supersampling. */
export const SUPERSAMPLING = 2;

const MIN_DIAMETER = 2;
const MAX_DIAMETER = 40;
/** Diameter of an isolated point, and the minimum if fewer than FEW_CELLS cells contain points. */
const LONE_DIAMETER = 8;
const FEW_CELLS = 200;
/** Disc diameter over point spacing: enough to close a square lattice, whose diagonal is 1.42 spacings. */
const OVERLAP = 1.6;
/** Points per occupied cell that are needed to estimate the density. */
const CELL_POINTS = 4;

interface Projected {
  /** Subpixel coordinates, right and down. */
  readonly u: Float32Array;
  readonly v: Float32Array;
}

/**
 * Draws every point as a disc facing the viewer; each subpixel shows the nearest one. Discs bulge slightly towards the
 * viewer, so that neighbours at equal depth meet half-way instead of covering each other.
 */
export function splat(sample: PointSample, frame: ViewFrame): Visibility {
  const width = frame.width_px * SUPERSAMPLING;
  const height = frame.height_px * SUPERSAMPLING;
  const point = new Uint32Array(width * height).fill(NO_POINT);
  const depth = new Float32Array(width * height).fill(-Infinity);
  const projected = project(sample, frame);
  const sizes = new SplatSizes(projected, width, height);
  const { view } = frame;
  const metresPerSubpixel = frame.metres_per_px / SUPERSAMPLING;
  const discs = Array.from({ length: MAX_DIAMETER + 1 }, (_, size) => disc(size, width, metresPerSubpixel));
  // Depths are relative to the first point, so that float32 keeps millimetres in any frame.
  const depthOrigin = sample.position[view.depth] ?? 0;
  let drawn = 0;
  for (let i = 0; i < sample.point_count; i += 1) {
    const u = projected.u[i] ?? 0;
    const v = projected.v[i] ?? 0;
    if (!(u >= 0 && u < width && v >= 0 && v < height)) continue;
    drawn += 1;
    const d = sizes.diameter(u, v);
    const shape = discs[d];
    if (!shape) continue;
    const x = Math.round(u - d / 2);
    const y = Math.round(v - d / 2);
    const z = view.depth_sign * ((sample.position[3 * i + view.depth] ?? 0) - depthOrigin);
    const clipped = x < 0 || y < 0 || x + d > width || y + d > height;
    const start = y * width + x;
    for (let k = 0; k < shape.offset.length; k += 1) {
      if (clipped && !inside(x + (shape.dx[k] ?? 0), y + (shape.dy[k] ?? 0), width, height)) continue;
      const at = start + (shape.offset[k] ?? 0);
      const near = z - (shape.sag[k] ?? 0);
      if (near > (depth[at] ?? 0)) {
        depth[at] = near;
        point[at] = i;
      }
    }
  }
  const seen = { width, height, point, depth, diameter: sizes.typical, drawn_count: drawn };
  closeGaps(seen);
  // Shading needs the depths of the points without the bulge.
  for (let at = 0; at < point.length; at += 1) {
    const i = point[at] ?? NO_POINT;
    if (i !== NO_POINT) depth[at] = view.depth_sign * ((sample.position[3 * i + view.depth] ?? 0) - depthOrigin);
  }
  return seen;
}

const inside = (x: number, y: number, width: number, height: number) => x >= 0 && y >= 0 && x < width && y < height;

function project(sample: PointSample, frame: ViewFrame): Projected {
  const { view, left_stored, top_stored } = frame;
  const perMetre = SUPERSAMPLING / frame.metres_per_px;
  const u = new Float32Array(sample.point_count);
  const v = new Float32Array(sample.point_count);
  for (let i = 0; i < sample.point_count; i += 1) {
    u[i] = ((sample.position[3 * i + view.right] ?? 0) - left_stored) * perMetre;
    v[i] = (top_stored - (sample.position[3 * i + view.up] ?? 0)) * perMetre;
  }
  return { u, v };
}

/** The subpixels of a disc and their depth behind its centre, metres. */
function disc(diameter: number, rowLength: number, metresPerSubpixel: number) {
  const dx: number[] = [];
  const dy: number[] = [];
  const sag: number[] = [];
  const radius = diameter / 2;
  for (let y = 0; y < diameter; y += 1) {
    for (let x = 0; x < diameter; x += 1) {
      const r2 = ((x + 0.5 - radius) ** 2 + (y + 0.5 - radius) ** 2) / (radius * radius);
      if (r2 > 1.05) continue; // slightly more than 1: otherwise small discs become crosses
      dx.push(x);
      dy.push(y);
      sag.push(0.5 * radius * metresPerSubpixel * r2);
    }
  }
  return {
    dx: Int32Array.from(dx),
    dy: Int32Array.from(dy),
    sag: Float32Array.from(sag),
    offset: Int32Array.from(dx, (x, k) => (dy[k] ?? 0) * rowLength + x),
  };
}

/** Disc diameters from the density of the projected points: the picture's median, adjusted per cell within limits. */
class SplatSizes {
  readonly #cell: number;
  readonly #columns: number;
  readonly #diameters: Uint8Array;
  /** Diameter at the picture's median density. */
  readonly typical: number;

  constructor(points: Projected, width: number, height: number) {
    let cell = 4;
    let counts = countPerCell(points, cell, width, height);
    let median = medianOccupied(counts);
    while (median < CELL_POINTS && cell < 256) {
      cell *= 2;
      counts = countPerCell(points, cell, width, height);
      median = medianOccupied(counts);
    }
    this.#cell = cell;
    this.#columns = Math.ceil(width / cell);
    const smallest = counts.filter((n) => n > 0).length < FEW_CELLS ? LONE_DIAMETER : MIN_DIAMETER;
    const typical = median < 2 ? LONE_DIAMETER : (OVERLAP * cell) / Math.sqrt(median);
    this.typical = Math.min(MAX_DIAMETER, Math.max(smallest, typical));
    this.#diameters = Uint8Array.from(counts, (n) => {
      // Discs grow by at most half in sparse cells (edges, single twigs) and shrink in dense ones.
      const local = n === 0 ? typical : (OVERLAP * cell) / Math.sqrt(n);
      const bounded = Math.min(1.5 * typical, Math.max(0.5 * typical, local));
      return Math.round(Math.min(MAX_DIAMETER, Math.max(smallest, bounded)));
    });
  }

  diameter(u: number, v: number): number {
    return this.#diameters[Math.floor(v / this.#cell) * this.#columns + Math.floor(u / this.#cell)] ?? MIN_DIAMETER;
  }
}

function countPerCell({ u, v }: Projected, cell: number, width: number, height: number): Uint32Array {
  const columns = Math.ceil(width / cell);
  const counts = new Uint32Array(columns * Math.ceil(height / cell));
  for (let i = 0; i < u.length; i += 1) {
    const x = u[i] ?? -1;
    const y = v[i] ?? -1;
    if (!inside(x, y, width, height)) continue;
    const at = Math.floor(y / cell) * columns + Math.floor(x / cell);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

/** Median count of the cells with points; 0 without any. */
function medianOccupied(counts: Uint32Array): number {
  const occupied = counts.filter((n) => n > 0).sort();
  return occupied[Math.floor(occupied.length / 2)] ?? 0;
}
