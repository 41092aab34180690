import type { QsmCylinder } from "../contract/qsm-records.ts";
import type { QsmModelRecords } from "./qsm-csv.ts";

type Vector = readonly [number, number, number];

/** Triangles of a model's wood. */
export interface QsmMesh {
  /** True world position of the mesh's zero, metres. */
  readonly origin: Vector;
  /** (3 v) relative to the origin, metres. */
  readonly vertices: Float32Array;
  /** (3 v) outward unit normals. */
  readonly normals: Float32Array;
  /** (3 t) counter-clockwise seen from outside. */
  readonly indices: Uint32Array;
}

/** A point of a shoot's axis. */
interface Station {
  readonly at: Vector;
  radius: number;
}

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const scaled = (a: Vector, f: number): Vector => [a[0] * f, a[1] * f, a[2] * f];
const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vector): Vector | null => {
  const norm = Math.hypot(...a);
  return norm > 0 ? scaled(a, 1 / norm) : null;
};

/** Closer stations are one, metres. */
const SAME_PLACE_M = 1e-6;

/** The axis of a shoot with a radius at each joint: the mean of the two cylinders that meet there. */
function stationsOf(cylinders: readonly QsmCylinder[], origin: Vector): Station[] {
  const stations: Station[] = [];
  const put = (point: Vector, radius: number) => {
    const at = minus(point, origin);
    const last = stations.at(-1);
    if (last && Math.hypot(...minus(at, last.at)) <= SAME_PLACE_M) last.radius = (last.radius + radius) / 2;
    else stations.push({ at, radius });
  };
  for (const { start, end, radius } of cylinders) {
    put(start, radius);
    put(end, radius);
  }
  return stations;
}

/** Any unit vector across `t`. */
function across(t: Vector): Vector {
  const other: Vector = Math.abs(t[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
  return unit(cross(other, t)) ?? [1, 0, 0];
}

/** Unit directions across the rings of an axis. */
function tangentsOf(stations: readonly Station[]): Vector[] {
  const steps = stations
    .slice(1)
    .map(({ at }, i) => unit(minus(at, (stations[i] as Station).at)) ?? ([0, 0, 1] as const));
  return stations.map((_, i): Vector => {
    const before = steps[Math.max(0, i - 1)] as Vector;
    const after = steps[Math.min(steps.length - 1, i)] as Vector;
    return unit(plus(before, after)) ?? after; // an axis that turns back
  });
}

/** Grows the lists of a mesh. */
class Tubes {
  readonly vertices: Float32Array;
  readonly normals: Float32Array;
  readonly indices: Uint32Array;
  #vertex = 0;
  #index = 0;

  constructor(vertices: number, triangles: number) {
    this.vertices = new Float32Array(3 * vertices);
    this.normals = new Float32Array(3 * vertices);
    this.indices = new Uint32Array(3 * triangles);
  }

  /** A tube with a cap at each end. Rings do not share vertices with caps, whose normals differ. */
  add(stations: readonly Station[], sides: number): void {
    const tangents = tangentsOf(stations);
    let u = across(tangents[0] as Vector);
    const rings = stations.map((station, i) => {
      const t = tangents[i] as Vector;
      u = unit(minus(u, scaled(t, dot(u, t)))) ?? across(t); // the least twist from ring to ring
      return this.#ring(station, u, cross(t, u), sides);
    });
    for (let i = 1; i < rings.length; i += 1) {
      const [low, high] = [rings[i - 1] as number, rings[i] as number];
      for (let k = 0; k < sides; k += 1) {
        const next = (k + 1) % sides;
        this.#triangle(low + k, low + next, high + next);
        this.#triangle(low + k, high + next, high + k);
      }
    }
    this.#cap(stations[0] as Station, rings[0] as number, scaled(tangents[0] as Vector, -1), sides);
    const last = stations.length - 1;
    this.#cap(stations[last] as Station, rings[last] as number, tangents[last] as Vector, sides);
  }

  #ring({ at, radius }: Station, u: Vector, v: Vector, sides: number): number {
    const first = this.#vertex;
    for (let k = 0; k < sides; k += 1) {
      const angle = (2 * Math.PI * k) / sides;
      const out = plus(scaled(u, Math.cos(angle)), scaled(v, Math.sin(angle)));
      this.#put(plus(at, scaled(out, radius)), out);
    }
    return first;
  }

  /** A fan over a copy of a ring. */
  #cap({ at }: Station, ring: number, normal: Vector, sides: number): void {
    const first = this.#vertex;
    for (let k = 0; k < sides; k += 1) {
      const from = 3 * (ring + k);
      this.#put(
        [this.vertices[from] as number, this.vertices[from + 1] as number, this.vertices[from + 2] as number],
        normal,
      );
    }
    const center = this.#vertex;
    this.#put(at, normal);
    const p = (k: number): Vector => [...this.vertices.subarray(3 * k, 3 * k + 3)] as unknown as Vector;
    const turn = dot(cross(minus(p(first), at), minus(p(first + 1), at)), normal) > 0;
    for (let k = 0; k < sides; k += 1) {
      const next = first + ((k + 1) % sides);
      if (turn) this.#triangle(center, first + k, next);
      else this.#triangle(center, next, first + k);
    }
  }

  #put(position: Vector, normal: Vector): void {
    this.vertices.set(position, 3 * this.#vertex);
    this.normals.set(normal, 3 * this.#vertex);
    this.#vertex += 1;
  }
  #triangle(a: number, b: number, c: number): void {
    this.indices.set([a, b, c], this.#index);
    this.#index += 3;
  }
}

/**
 * The wood of a model as a closed tube per shoot: rings at the joints of its cylinders, of the mean radius of the two that
 * meet, and a cap at each end. A shoot begins inside the one that carries it. Shoots without length have no tube. `sides`:
 * corners of a ring, 3 or more.
 */
export function qsmMesh({ cylinders, shoots }: QsmModelRecords, sides = 12): QsmMesh {
  if (!(Number.isInteger(sides) && sides >= 3)) throw new RangeError(`a ring needs 3 sides or more, not ${sides}`);
  const origin = (cylinders[0]?.start.map(Math.floor) ?? [0, 0, 0]) as unknown as Vector;
  const byId = new Map(cylinders.map((cylinder) => [cylinder.cyl_id, cylinder]));
  const axes = shoots
    .map(({ cylinder_ids }) =>
      stationsOf(
        cylinder_ids.flatMap((id) => byId.get(id) ?? []),
        origin,
      ),
    )
    .filter(({ length }) => length > 1);
  const rings = axes.reduce((sum, { length }) => sum + length, 0);
  const vertices = rings * sides + 2 * axes.length * (sides + 1);
  const triangles = 2 * sides * (rings - axes.length) + 2 * sides * axes.length;
  const tubes = new Tubes(vertices, triangles);
  for (const axis of axes) tubes.add(axis, sides);
  return { origin, vertices: tubes.vertices, normals: tubes.normals, indices: tubes.indices };
}
