// The cylinders of a tree and the triangles of their surfaces.
import { add, unit, type Vector } from "../vector.ts";
import { cross, type Leader, type StemSection } from "./stem.ts";
import { codeOf, Numbers, SCANNED, type Surface } from "./surface.ts";

/** Numbers of a cylinder: start, end, metres; radius at both. */
export const CYLINDER_NUMBERS = 8;

export class Wood {
  readonly #cylinders = new Numbers();
  readonly #orders = new Numbers();
  wood_m3 = 0;
  stem_m3 = 0;
  top = -Infinity;

  constructor(
    readonly tree: number,
    readonly surface: Surface,
  ) {}

  get count(): number {
    return this.#orders.length;
  }
  get cylinders(): Float64Array {
    return this.#cylinders.values;
  }
  /** 0 = stem, 1 = its branches, and so on. */
  get orders(): Uint8Array {
    return Uint8Array.from(this.#orders.values);
  }

  #add(a: Vector, b: Vector, radii: readonly [number, number], order: number, buried: boolean): Vector {
    this.#cylinders.push(...a, ...b, ...radii);
    this.#orders.push(order);
    this.top = Math.max(this.top, a[2], b[2]);
    if (!buried) {
      const [r, s] = radii;
      const volume = (Math.PI / 3) * Math.hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]) * (r * r + r * s + s * s);
      this.wood_m3 += volume;
      if (order === 0) this.stem_m3 += volume;
    }
    return codeOf(this.tree, this.count - 1);
  }

  /** A part of the stem: bands between rings that are closer together where a stem is measured. */
  stem(leader: Leader, section: StemSection): void {
    const radius = (along: number) => section.radius(along) * Math.sqrt(leader.area_share);
    const sides = Math.min(44, Math.max(10, Math.round((2 * Math.PI * radius(Math.max(leader.from, 1.3))) / 0.025)));
    const { axis, to } = leader;
    let along = leader.from;
    let low = section.ring(leader, along, sides);
    while (along < to - 1e-6) {
      const step = along < 3 ? 0.06 : along < 8 ? 0.12 : 0.25;
      const rest = to - along - step;
      const next = along < -1e-6 && along + step > 0 ? 0 : rest < 0.02 ? to : along + step;
      const high = section.ring(leader, next, sides);
      const ends = [radius(along), radius(next)] as const;
      const code = this.#add(axis.place(along), axis.place(next), ends, 0, next <= 1e-6);
      this.surface.band(low, high, code, SCANNED.wood);
      along = next;
      low = high;
    }
  }

  /** A branch: cylinders between places, with a mitre at each. */
  branch(places: readonly Vector[], radii: readonly number[], order: number): void {
    const thickest = radii[0] ?? 0;
    const sides = thickest > 0.03 ? 14 : thickest > 0.008 ? 8 : thickest > 0.003 ? 6 : 4;
    const corner = Math.PI / sides / Math.sin(Math.PI / sides);
    let side: Vector = [0, 0, 0];
    const rings = places.map((place, i) => {
      const [before, after] = [places[Math.max(0, i - 1)], places[Math.min(places.length - 1, i + 1)]] as Vector[];
      const along = unit(add(after as Vector, before as Vector, -1));
      // The side of the ring before, turned as little as possible; the first is any one across.
      const start: Vector = i > 0 ? side : Math.abs(along[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
      const slip = start[0] * along[0] + start[1] * along[1] + start[2] * along[2];
      side = unit(add(start, along, -slip));
      const other = cross(along, side);
      return Array.from({ length: sides }, (_, k) => {
        const azimuth = (2 * Math.PI * k) / sides;
        const r = (radii[i] ?? 0) * corner;
        return add(add(place, side, r * Math.cos(azimuth)), other, r * Math.sin(azimuth));
      });
    });
    for (let i = 0; i + 1 < places.length; i += 1) {
      const ends = [radii[i] ?? 0, radii[i + 1] ?? 0] as const;
      const code = this.#add(places[i] as Vector, places[i + 1] as Vector, ends, order, false);
      this.surface.band(rings[i] ?? [], rings[i + 1] ?? [], code, SCANNED.wood);
    }
  }
}
