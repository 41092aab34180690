// The stem of a tree: its axis with lean and sway, its leaders above a fork, and the relief of its surface.
import { gaussian, type Uniform } from "../random.ts";
import { add, dot, unit, type Vector } from "../vector.ts";
import type { StemRadius } from "./allometry.ts";

/** Metres of the axis below the ground, so that slopes do not show its end. */
export const BURIED_M = 0.7;
const STEP_M = 0.1;

export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const between = (a: Vector, b: Vector, t: number): Vector => add(a, add(b, a, -1), t);
const flat = (azimuth: number): Vector => [Math.cos(azimuth), Math.sin(azimuth), 0];

/** Two unit vectors across a direction that is not level. */
export function across(along: Vector): readonly [Vector, Vector] {
  const u = unit(add([1, 0, 0], along, -along[0]));
  return [u, cross(along, u)];
}

/** How a stem grows. */
export interface StemForm {
  readonly base: Vector;
  readonly length_m: number;
  /** Radians from the vertical at the base; the stem turns up above. */
  readonly lean: number;
  readonly lean_azimuth: number;
  /** Metres along the stem; null = none. */
  readonly fork_m: number | null;
}

/** A line of places from `from` metres along the stem. */
export class Axis {
  readonly #places: Vector[] = [];

  constructor(
    readonly from: number,
    readonly to: number,
    start: Vector,
    direction: (along: number) => Vector,
  ) {
    let place = start;
    for (let along = from; along < to + STEP_M; along += STEP_M) {
      this.#places.push(place);
      place = add(place, direction(along + STEP_M / 2), STEP_M);
    }
  }
  place(along: number): Vector {
    const steps = Math.min(this.#places.length - 1.001, Math.max(0, (along - this.from) / STEP_M));
    const i = Math.floor(steps);
    return between(this.#places[i] as Vector, this.#places[i + 1] as Vector, steps - i);
  }
  direction(along: number): Vector {
    return unit(add(this.place(along + 0.1), this.place(along - 0.1), -1));
  }
  /** The place at a height, for lines that rise everywhere. */
  atHeight(z: number): Vector {
    let [low, high] = [0, this.#places.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#places[middle] as Vector)[2] <= z) low = middle;
      else high = middle;
    }
    const [a, b] = [this.#places[low] as Vector, this.#places[high] as Vector];
    return between(a, b, Math.min(1, Math.max(0, (z - a[2]) / (b[2] - a[2]))));
  }
}

/** A part of the stem with a share of the cross-section: all below a fork, two above (Leonardo's rule). */
export interface Leader {
  readonly axis: Axis;
  readonly from: number;
  readonly to: number;
  readonly area_share: number;
}

export interface GrownStem {
  /** From below the ground to the top as if there were no fork. */
  readonly axis: Axis;
  readonly leaders: readonly Leader[];
}

export function growStem(form: StemForm, next: Uniform): GrownStem {
  const { length_m, lean_azimuth, fork_m } = form;
  const sways = [1.5, 3.5].map((turns) => ({
    rate: (2 * Math.PI * turns) / length_m,
    slope: (0.02 * gaussian(next)) / Math.sqrt(turns),
    phase: 2 * Math.PI * next(),
    way: flat(2 * Math.PI * next()),
  }));
  const upright = (along: number): Vector => {
    const part = Math.min(1, Math.max(0, along / length_m));
    const lean = form.lean * (1 - 0.6 * part);
    let way: Vector = add([0, 0, Math.cos(lean)], flat(lean_azimuth), Math.sin(lean));
    for (const { rate, slope, phase, way: sideways } of sways)
      way = add(way, sideways, slope * Math.sin(rate * along + phase));
    return unit(way);
  };
  const below = add(form.base, upright(0), -BURIED_M);
  const axis = new Axis(-BURIED_M, length_m, below, (along) => upright(Math.max(0, along)));
  // The axis passes the base: the buried part is straight.
  if (fork_m === null) return { axis, leaders: [{ axis, from: -BURIED_M, to: length_m, area_share: 1 }] };
  const share = 0.5 + 0.15 * next();
  const azimuth = 2 * Math.PI * next();
  const leaders = [share, 1 - share].map((area_share, k): Leader => {
    const opening = (0.12 + 0.16 * next()) * (k === 0 ? 0.8 : 1.1);
    const to = length_m * (k === 0 ? 1 : 0.9);
    const way = flat(azimuth + k * Math.PI);
    const direction = (along: number) =>
      unit(add(upright(along), way, Math.tan(opening) * Math.exp((fork_m - along) / (0.25 * length_m))));
    return { axis: new Axis(fork_m, to, axis.place(fork_m), direction), from: fork_m, to, area_share };
  });
  return { axis, leaders: [{ axis, from: -BURIED_M, to: fork_m, area_share: 1 }, ...leaders] };
}

/** The cross-section of a stem: an ellipse with bark. */
export class StemSection {
  readonly #relief: Float64Array;
  readonly #around: number;
  readonly #semi: readonly [number, number];
  readonly #turn: number;
  static readonly cell_m = 0.18;

  /** `ratio`: of the axes of the ellipse; `relief_m`: standard deviation of the bark. */
  constructor(
    readonly radius: StemRadius,
    readonly ratio: number,
    readonly relief_m: number,
    size: { readonly girth_m: number; readonly length_m: number },
    next: Uniform,
  ) {
    this.#around = Math.max(6, Math.round(size.girth_m / 0.05));
    const up = Math.ceil((size.length_m + BURIED_M) / StemSection.cell_m) + 2;
    this.#relief = Float64Array.from({ length: this.#around * up }, () => 1.7 * (2 * next() - 1));
    // Without its mean around the stem, so that bark leaves the mean radius as it is.
    for (let j = 0; j < up; j += 1) {
      const row = this.#relief.subarray(j * this.#around, (j + 1) * this.#around);
      const mean = row.reduce((sum, value) => sum + value / this.#around, 0);
      for (const [i, value] of row.entries()) row[i] = value - mean;
    }
    this.#semi = semiAxes(ratio);
    this.#turn = Math.PI * next();
  }
  /** Radius of the ellipse of the same girth as a circle of radius 1. */
  ellipse(azimuth: number): number {
    const [a, b] = this.#semi;
    const turned = azimuth - this.#turn;
    return (a * b) / Math.hypot(b * Math.cos(turned), a * Math.sin(turned));
  }
  /** Bark of a deviation of about 1, periodic around the stem. */
  bark(azimuth: number, along: number): number {
    const u = ((azimuth / (2 * Math.PI)) % 1) * this.#around;
    const v = Math.max(0, along + BURIED_M) / StemSection.cell_m;
    const [i, j] = [Math.floor(u), Math.floor(v)];
    const at = (a: number, b: number) =>
      this.#relief[((j + b) * this.#around + ((i + a) % this.#around)) % this.#relief.length] ?? 0;
    const [f, g] = [u - i, v - j];
    return (at(0, 0) * (1 - f) + at(1, 0) * f) * (1 - g) + (at(0, 1) * (1 - f) + at(1, 1) * f) * g;
  }
  /** Corners of the section across the axis; the polygon has the girth of the smooth section. */
  ring(leader: Leader, along: number, sides: number): Vector[] {
    const [u, v] = across(leader.axis.direction(along));
    const centre = leader.axis.place(along);
    const radius = this.radius(along) * Math.sqrt(leader.area_share);
    const corner = Math.PI / sides / Math.sin(Math.PI / sides);
    const relief = this.relief_m * Math.min(1, radius / this.radius(1.3));
    return Array.from({ length: sides }, (_, k) => {
      const azimuth = (2 * Math.PI * k) / sides;
      const r = radius * corner * this.ellipse(azimuth) + relief * this.bark(azimuth, along);
      return add(add(centre, u, r * Math.cos(azimuth)), v, r * Math.sin(azimuth));
    });
  }
}

/** Of the ellipse of perimeter 2 pi. Source: Ramanujan 1914, relative error below 1e-8 here. */
function semiAxes(ratio: number): readonly [number, number] {
  const [a, b] = [Math.sqrt(ratio), 1 / Math.sqrt(ratio)];
  const scale = 2 / (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
  return [a * scale, b * scale];
}

/** Degrees of a direction from the vertical and its bearing clockwise from +y. */
export function leanOf(from: Vector, to: Vector): { readonly lean_deg: number; readonly lean_azimuth_deg: number } {
  const d = unit(add(to, from, -1));
  const degrees = 180 / Math.PI;
  return {
    lean_deg: Math.acos(Math.min(1, dot(d, [0, 0, 1]))) * degrees,
    lean_azimuth_deg: (Math.atan2(d[0], d[1]) * degrees + 360) % 360,
  };
}
