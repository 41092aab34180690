// Scanners that look at a scene of rods on a slope: one beam per cell of a raster, the first thing on its way.
import type { Uniform } from "./random.ts";
import { add, dot, length, type Vector } from "./vector.ts";

export const HEIGHT_M = 1.5; // of the origin above the ground
const SLOPE = 0.03; // of the ground, towards +x

/** Where things are: the ground, or a rod from a to b. */
export interface Rod<Kind extends number> {
  readonly a: Vector;
  readonly b: Vector;
  readonly radius: number;
  readonly kind: Kind;
}

/** A range of rows and columns, both ends included. */
interface Cells {
  readonly rows: readonly [number, number];
  readonly columns: readonly [number, number];
}

/** A raster of beams. */
export interface Scanner {
  readonly rows: number;
  readonly columns: number;
  /** Radians between beams. */
  readonly step: number;
  readonly farthest_m: number;
  /** Half the width of the beam: it meets what it touches. */
  beamRadius(range: number): number;
  origin(row: number): Vector;
  direction(row: number, column: number): Vector;
  /** Where a rod with a radius may be met. */
  cells(a: Vector, b: Vector, radius: number): Cells | null;
}

const clamp = (from: number, to: number, count: number): [number, number] => [
  Math.max(0, Math.floor(from)),
  Math.min(count - 1, Math.ceil(to)),
];

/** A terrestrial scanner that sees a sector of 0.55 rad around a heading. */
export function tripod(position: Vector = [0, 0, 0], heading = 0, step = 0.0007): Scanner {
  const [width, low, high] = [0.55, -0.9, 1.15];
  const beamRadius = (range: number) => 0.0035 + 0.00017 * range;
  const columns = Math.round(width / step);
  const rows = Math.round((high - low) / step);
  const farthest_m = 28;
  return {
    rows,
    columns,
    step,
    farthest_m,
    beamRadius,
    origin: () => position,
    direction(row, column) {
      const azimuth = (column + 0.5) * step - width / 2 + heading;
      const elevation = low + (row + 0.5) * step;
      return [Math.cos(elevation) * Math.cos(azimuth), Math.cos(elevation) * Math.sin(azimuth), Math.sin(elevation)];
    },
    cells(from, to, radius) {
      const [a, b] = [add(from, position, -1), add(to, position, -1)];
      const range = Math.min(length(a), length(b));
      if (range < 0.5 || range > farthest_m) return null;
      const wide = (radius + beamRadius(range)) / range + step;
      const azimuths = [a, b].map((p) => Math.atan2(turned(p, heading)[1], turned(p, heading)[0]) + width / 2);
      const elevations = [a, b].map((p) => Math.asin(p[2] / length(p)) - low);
      const stretch = wide / Math.max(0.1, Math.cos(Math.max(...elevations) + low));
      const span = (values: readonly number[], spare: number, count: number) =>
        clamp((Math.min(...values) - spare) / step, (Math.max(...values) + spare) / step, count);
      return { rows: span(elevations, wide, rows), columns: span(azimuths, stretch, columns) };
    },
  };
}

const turned = (p: Vector, heading: number): Vector =>
  heading === 0
    ? p
    : [p[0] * Math.cos(heading) + p[1] * Math.sin(heading), p[1] * Math.cos(heading) - p[0] * Math.sin(heading), p[2]];

/** A drone that flies along +x with a mirror that sweeps across: every line of beams has an origin of its own. */
export function drone(from_x: number, to_x: number, y: number, height = 60): Scanner {
  const step = 0.0008;
  const spacing = step * height; // between lines
  const half = 0.2; // radians to each side of the middle of the plot
  const beamRadius = (range: number) => 0.003 + 0.00025 * range;
  const rows = Math.round((to_x - from_x) / spacing);
  const columns = Math.round((2 * half) / step);
  const middle = Math.atan2(-y, height); // of the sweep: towards y = 0
  const x = (row: number) => from_x + (row + 0.5) * spacing;
  return {
    rows,
    columns,
    step,
    farthest_m: 2 * height,
    beamRadius,
    origin: (row) => [x(row), y, height],
    direction(_row, column) {
      const angle = middle + (column + 0.5) * step - half;
      return [0, Math.sin(angle), -Math.cos(angle)];
    },
    cells(a, b, radius) {
      const wide = radius + beamRadius(height);
      const angles = [a, b].map((p) => Math.atan2(p[1] - y, height - p[2]) - middle + half);
      const spare = wide / (height - Math.max(a[2], b[2])) + step;
      return {
        rows: clamp(
          (Math.min(a[0], b[0]) - wide - from_x) / spacing - 1,
          (Math.max(a[0], b[0]) + wide - from_x) / spacing + 1,
          rows,
        ),
        columns: clamp((Math.min(...angles) - spare) / step, (Math.max(...angles) + spare) / step, columns),
      };
    },
  };
}

/** The nearest return of every beam; 0 = none. */
export class RangeImage<Kind extends number> {
  readonly range: Float32Array;
  readonly kind: Uint8Array;

  constructor(
    readonly scanner: Scanner,
    rods: readonly Rod<Kind>[],
    ground: Kind,
  ) {
    this.range = new Float32Array(scanner.rows * scanner.columns);
    this.kind = new Uint8Array(this.range.length);
    this.#ground(ground);
    for (const rod of rods) this.#rod(rod);
  }
  /** 0 = no return. */
  at(row: number, column: number): number {
    const { rows, columns } = this.scanner;
    return row >= 0 && row < rows && column >= 0 && column < columns ? (this.range[row * columns + column] ?? 0) : 0;
  }
  kindAt(row: number, column: number): number {
    return this.kind[row * this.scanner.columns + column] ?? 0;
  }
  /** The range of one of the four beams around that meets something over a metre behind; 0 = none does. */
  behind(row: number, column: number, next: Uniform): number {
    const beside = [
      this.at(row, column + 1),
      this.at(row, column - 1),
      this.at(row + 1, column),
      this.at(row - 1, column),
    ];
    const far = beside.filter((range) => range > this.at(row, column) + 1);
    return far[Math.floor(next() * far.length)] ?? 0;
  }
  #meet(row: number, column: number, range: number, kind: Kind): void {
    const at = row * this.scanner.columns + column;
    const before = this.range[at] ?? 0;
    if (range > this.scanner.farthest_m || (before > 0 && before <= range)) return;
    this.range[at] = range;
    this.kind[at] = kind;
  }
  #ground(kind: Kind): void {
    const { rows, columns } = this.scanner;
    for (let row = 0; row < rows; row += 1) {
      const o = this.scanner.origin(row);
      for (let column = 0; column < columns; column += 1) {
        const d = this.scanner.direction(row, column);
        const range = (-HEIGHT_M + SLOPE * o[0] - o[2]) / (d[2] - SLOPE * d[0]);
        if (range > 0) this.#meet(row, column, range, kind);
      }
    }
  }
  /** Beams that pass the axis of a rod within its radius and their own. */
  #rod({ a, b, radius, kind }: Rod<Kind>): void {
    const step = add(b, a, -1);
    const pieces = Math.max(1, Math.ceil(length(step) / 0.25));
    for (let i = 0; i < pieces; i += 1)
      this.#piece({ a: add(a, step, i / pieces), b: add(a, step, (i + 1) / pieces), radius, kind });
  }
  #piece({ a, b, radius, kind }: Rod<Kind>): void {
    const cells = this.scanner.cells(a, b, radius);
    if (!cells) return;
    const axis = add(b, a, -1);
    for (let row = cells.rows[0]; row <= cells.rows[1]; row += 1) {
      const from = add(a, this.scanner.origin(row), -1);
      for (let column = cells.columns[0]; column <= cells.columns[1]; column += 1) {
        const found = passing(this.scanner.direction(row, column), from, axis);
        if (!found || found.distance > radius + this.scanner.beamRadius(found.range)) continue;
        const depth = Math.sqrt(Math.max(0, radius ** 2 - found.distance ** 2));
        this.#meet(row, column, found.range - depth, kind);
      }
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
