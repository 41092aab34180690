// A leafless forest plot as a terrestrial scanner sees it: one beam per cell of a raster of angles, the first thing on
// its way. Spacing grows with distance; thin branches and twigs are lines of points.
import { gaussian, type Uniform, uniform } from "./random.ts";
import { add, dot, length, unit, type Vector } from "./vector.ts";

const STEP = 0.0007; // radians between beams
const AZIMUTH = 0.55; // radians, the width of the sector
const ELEVATION = [-0.9, 1.15] as const;
const FARTHEST_M = 28;
const HEIGHT_M = 1.5; // of the scanner above the ground
const RANGE_NOISE_M = 0.002;
/** Half the width of the beam where it leaves the scanner and its growth with distance: it meets what it touches. */
const beamRadius = (range: number) => 0.0035 + 0.00017 * range;

const columns = Math.round(AZIMUTH / STEP);
const rows = Math.round((ELEVATION[1] - ELEVATION[0]) / STEP);

export const KIND = { ground: 1, stem: 2, branch: 3, twig: 4 } as const;
type Kind = (typeof KIND)[keyof typeof KIND];

const direction = (row: number, column: number): Vector => {
  const azimuth = (column + 0.5) * STEP - AZIMUTH / 2;
  const elevation = ELEVATION[0] + (row + 0.5) * STEP;
  return [Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation)];
};

/** The nearest return of every beam; 0 = none. The scanner is the origin. */
class RangeImage {
  readonly range = new Float32Array(rows * columns);
  readonly kind = new Uint8Array(rows * columns);

  meet(row: number, column: number, range: number, kind: Kind): void {
    const at = row * columns + column;
    const before = this.range[at] ?? 0;
    if (range > FARTHEST_M || (before > 0 && before <= range)) return;
    this.range[at] = range;
    this.kind[at] = kind;
  }
  ground(): void {
    for (let row = 0; row < rows; row += 1)
      for (let column = 0; column < columns; column += 1) {
        const d = direction(row, column);
        const range = -HEIGHT_M / (d[2] - 0.03 * d[0]); // a plane that rises by 3 %
        if (range > 0) this.meet(row, column, range, KIND.ground);
      }
  }
  /** A rod from a to b: beams that pass its axis within its radius and their own. */
  rod(a: Vector, b: Vector, radius: number, kind: Kind): void {
    const pieces = Math.max(1, Math.ceil(length(add(b, a, -1)) / 0.25));
    for (let i = 0; i < pieces; i += 1) {
      const step = add(b, a, -1);
      this.piece(add(a, step, i / pieces), add(a, step, (i + 1) / pieces), radius, kind);
    }
  }
  piece(a: Vector, b: Vector, radius: number, kind: Kind): void {
    const range = Math.min(length(a), length(b));
    if (range < 0.5 || range > FARTHEST_M) return;
    const wide = (radius + beamRadius(range)) / range + STEP;
    const azimuths = [a, b].map((p) => Math.atan2(p[1], p[0]) + AZIMUTH / 2);
    const elevations = [a, b].map((p) => Math.asin(p[2] / length(p)) - ELEVATION[0]);
    const stretch = wide / Math.max(0.1, Math.cos(Math.max(...elevations) + ELEVATION[0]));
    const first = (values: readonly number[], spare: number) =>
      Math.max(0, Math.floor((Math.min(...values) - spare) / STEP));
    const last = (values: readonly number[], spare: number, count: number) =>
      Math.min(count - 1, Math.ceil((Math.max(...values) + spare) / STEP));
    const axis = add(b, a, -1);
    const lastColumn = last(azimuths, stretch, columns);
    const lastRow = last(elevations, wide, rows);
    for (let row = first(elevations, wide); row <= lastRow; row += 1)
      for (let column = first(azimuths, stretch); column <= lastColumn; column += 1) {
        const found = passing(direction(row, column), a, axis);
        if (!found || found.distance > radius + beamRadius(found.range)) continue;
        const depth = Math.sqrt(Math.max(0, radius ** 2 - found.distance ** 2));
        this.meet(row, column, found.range - depth, kind);
      }
  }
}

/** Where a beam comes closest to the axis a + t * axis, 0 <= t <= 1: its range there and the distance. */
function passing(d: Vector, a: Vector, axis: Vector): { readonly range: number; readonly distance: number } | null {
  const along = dot(d, axis);
  const flat = dot(axis, axis) - along * along;
  if (flat <= 1e-12) return null;
  const t = Math.min(1, Math.max(0, (along * dot(d, a) - dot(axis, a)) / flat));
  const on = add(a, axis, t);
  const range = dot(d, on);
  const off = add(on, d, -range);
  return range > 0 ? { range, distance: length(off) } : null;
}

function tree(image: RangeImage, next: Uniform, x: number, y: number): void {
  const foot: Vector = [x, y, -HEIGHT_M + 0.03 * x];
  const height = 9 + 8 * next();
  const radius = 0.08 + 0.12 * next();
  for (let i = 0; i < 24; i += 1) {
    const low = add(foot, [0, 0, (height * i) / 24]);
    image.rod(low, add(low, [0, 0, height / 24]), radius * (1 - i / 26), KIND.stem);
  }
  for (let i = 0; i < 26; i += 1) {
    const azimuth = 2 * Math.PI * next();
    const out = unit([Math.cos(azimuth), Math.sin(azimuth), 0.2 + 0.8 * next()]);
    const from = add(foot, [0, 0, height * (0.2 + 0.75 * next())]);
    const reach = 0.8 + 2 * next();
    image.rod(from, add(from, out, reach), 0.008 + 0.012 * next(), KIND.branch);
    for (let j = 0; j < 9; j += 1) {
      const at = add(from, out, reach * (0.25 + 0.75 * next()));
      const away = unit(add(out, [next() - 0.5, next() - 0.5, next() - 0.4], 1.6));
      image.rod(at, add(at, away, 0.2 + 0.5 * next()), 0.0015 + 0.002 * next(), KIND.twig);
    }
  }
}

/** A beam that passes close by one thing while its neighbour meets another far behind it. */
export interface Edge {
  readonly ray: Vector;
  /** Ranges of the two, metres. */
  readonly near: number;
  readonly far: number;
}

export interface ForestPlot {
  readonly xyz: Float64Array;
  /** KIND of each point. */
  readonly kind: Uint8Array;
  readonly edges: readonly Edge[];
}

export function forestPlot(seed: number, trees = 22): ForestPlot {
  const next = uniform(seed);
  const image = new RangeImage();
  image.ground();
  for (let i = 0; i < trees; i += 1) {
    const range = 4 + 20 * Math.sqrt(next());
    const azimuth = (next() - 0.5) * AZIMUTH;
    tree(image, next, range * Math.cos(azimuth), range * Math.sin(azimuth));
  }
  const xyz: number[] = [];
  const kind: number[] = [];
  const edges: Edge[] = [];
  for (let row = 0; row < rows; row += 1)
    for (let column = 0; column < columns; column += 1) {
      const at = row * columns + column;
      const range = image.range[at] ?? 0;
      if (range === 0) continue;
      const d = direction(row, column);
      xyz.push(...add([0, 0, 0], d, range + RANGE_NOISE_M * gaussian(next)));
      kind.push(image.kind[at] ?? 0);
      const behind = column + 1 < columns ? (image.range[at + 1] ?? 0) : 0;
      if (behind > range + 1) edges.push({ ray: d, near: range, far: behind });
    }
  return { xyz: Float64Array.from(xyz), kind: Uint8Array.from(kind), edges };
}
