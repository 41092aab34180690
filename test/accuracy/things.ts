// What stands or lies among the trees of a generated scene: tubes, boxes and leaves whose ids tell what they are of.
import { cross } from "./forest/stem.ts";
import { codeOf, NO_CYLINDER, SCANNED, type Surface } from "./forest/surface.ts";
import type { Uniform } from "./random.ts";
import type { Height } from "./relief.ts";
import { add, unit, type Vector } from "./vector.ts";

/** Ids of things begin here; ids below are trees. */
const FIRST_THING = 10_000;
const STEP = 100;

/** The kind of thing that an id belongs to; null for trees and ground. */
export const thingOf = <Name extends string>(names: readonly Name[], id: number): Name | null =>
  id < FIRST_THING ? null : (names[Math.floor((id - FIRST_THING) / STEP)] ?? null);

type Pair = readonly [number, number];
const CORNERS: readonly Pair[] = [
  [-1, -1],
  [1, -1],
  [1, 1],
  [-1, 1],
];

/** Adds things to a surface; heights are above the ground at their middle. */
export class Builder<Name extends string> {
  readonly #counts = new Map<Name, number>();
  readonly #names: readonly Name[];
  readonly #surface: Surface;
  readonly #ground: Height;

  constructor(names: readonly Name[], surface: Surface, ground: Height) {
    this.#names = names;
    this.#surface = surface;
    this.#ground = ground;
  }
  /** Of the next thing of a kind. */
  id(name: Name): Vector {
    const count = this.#counts.get(name) ?? 0;
    this.#counts.set(name, count + 1);
    return codeOf(FIRST_THING + STEP * this.#names.indexOf(name) + (count % STEP), NO_CYLINDER);
  }
  box(code: Vector, [x, y]: Pair, [w, d]: Pair, [from, to]: Pair, organ: number = SCANNED.ground): void {
    const z = this.#ground(x, y);
    const ring = (h: number): Vector[] => CORNERS.map(([a, b]) => [x + (a * w) / 2, y + (b * d) / 2, z + h]);
    this.#surface.band(ring(from), ring(to), code, organ);
    for (const h of [from, to]) this.#cap(ring(h), code, organ);
  }
  #cap(ring: readonly Vector[], code: Vector, organ: number): void {
    const corners = ring.map((at) => this.#surface.vertex(at, code));
    for (let k = 2; k < corners.length; k += 1)
      this.#surface.triangle(corners[0] ?? 0, corners[k - 1] ?? 0, corners[k] ?? 0, organ);
  }
  /** Upright, with radii at both ends. */
  post(code: Vector, [x, y]: Pair, [low, high]: Pair, [from, to]: Pair): void {
    const z = this.#ground(x, y);
    this.tube(code, [x, y, z + from], [x, y, z + to], [low, high], 24);
  }
  bar(code: Vector, a: Vector, b: Vector, r: number): void {
    this.tube(code, a, b, [r, r], 8);
  }
  /** Between two places; `capped`: closed by flat ends. */
  tube(code: Vector, a: Vector, b: Vector, [low, high]: Pair, sides: number, capped = false): void {
    const along = unit(add(b, a, -1));
    const v = unit(Math.abs(along[2]) < 0.999 ? [-along[1], along[0], 0] : [1, 0, 0]);
    const w = cross(along, v);
    const ring = (at: Vector, r: number): Vector[] =>
      Array.from({ length: sides }, (_, k) => {
        const turn = (2 * Math.PI * k) / sides;
        return add(add(at, v, r * Math.cos(turn)), w, r * Math.sin(turn));
      });
    this.#surface.band(ring(a, low), ring(b, high), code, SCANNED.ground);
    if (!capped) return;
    this.#cap(ring(a, low), code, SCANNED.ground);
    this.#cap(ring(b, high), code, SCANNED.ground);
  }
  /** A leaf of about 6 cm. */
  leaf(code: Vector, at: Vector, next: Uniform): void {
    const corner = (): number =>
      this.#surface.vertex([0, 1, 2].map((k) => (at[k] ?? 0) + 0.06 * (next() - 0.5)) as unknown as Vector, code);
    this.#surface.triangle(corner(), corner(), corner(), SCANNED.leaf);
  }
  /** Leaves anywhere in a box that stands on the ground. */
  leaves(code: Vector, [x, y]: Pair, [w, d, h]: Vector, next: Uniform): void {
    const z = this.#ground(x, y);
    const count = Math.round(w * d * h * 800);
    for (let i = 0; i < count; i += 1)
      this.leaf(code, [x + (next() - 0.5) * w, y + (next() - 0.5) * d, z + next() * h], next);
  }
}
