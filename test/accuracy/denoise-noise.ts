// Noise planted into a cloud, so that it is known which points are noise and of what kind.
import type { Edge, MixedPixel } from "./denoise-plot.ts";
import { type Uniform, uniform } from "./random.ts";
import { boxOf, pointAt, type Vector } from "./vector.ts";

export const NOISE = [
  "isolated",
  "clump of 2",
  "clump of 3",
  "clump of 4",
  "clump of 5 to 8",
  "clump of 9 to 12",
  "below ground",
  "ghost edge",
  "trail",
] as const;
export type Noise = (typeof NOISE)[number];

const CLUMPS = [
  { name: "clump of 2", sizes: [2] },
  { name: "clump of 3", sizes: [3] },
  { name: "clump of 4", sizes: [4] },
  { name: "clump of 5 to 8", sizes: [5, 6, 7, 8] },
  { name: "clump of 9 to 12", sizes: [9, 10, 11, 12] },
] as const satisfies readonly { readonly name: Noise; readonly sizes: readonly number[] }[];

/** Finds out whether a place is farther than `clearance` from every point. */
class Room {
  readonly #clearance: number;
  readonly #cells = new Map<string, Vector[]>();

  constructor(xyz: Float64Array, clearance: number) {
    this.#clearance = clearance;
    for (let i = 0; i < xyz.length / 3; i += 1) this.fill(pointAt(xyz, i));
  }
  fill(point: Vector): void {
    const key = this.#cell(point).join();
    const cell = this.#cells.get(key);
    if (cell) cell.push(point);
    else this.#cells.set(key, [point]);
  }
  #cell(p: Vector): Vector {
    const at = (value: number) => Math.floor(value / this.#clearance);
    return [at(p[0]), at(p[1]), at(p[2])];
  }
  isFree(p: Vector): boolean {
    const [i, j, k] = this.#cell(p);
    for (let a = i - 1; a <= i + 1; a += 1)
      for (let b = j - 1; b <= j + 1; b += 1)
        for (let c = k - 1; c <= k + 1; c += 1)
          for (const at of this.#cells.get(`${a},${b},${c}`) ?? [])
            if (Math.hypot(p[0] - at[0], p[1] - at[1], p[2] - at[2]) < this.#clearance) return false;
    return true;
  }
}

/** 1 = the point lies as far from all other points of the cloud as planted noise does: a stray of the scan itself. */
export function ownStrays(xyz: Float64Array, clearance: number): Uint8Array {
  const cellOf = (p: Vector, step: Vector) => p.map((v, k) => Math.floor(v / clearance) + (step[k] ?? 0)).join();
  const cells = new Map<string, Vector[]>();
  const points = Array.from({ length: xyz.length / 3 }, (_, i) => pointAt(xyz, i));
  for (const p of points) {
    const key = cellOf(p, [0, 0, 0]);
    const cell = cells.get(key);
    if (cell) cell.push(p);
    else cells.set(key, [p]);
  }
  const isNear = (p: Vector, q: Vector) => {
    const apart = Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
    return apart > 0 && apart < clearance;
  };
  const has = (p: Vector, step: Vector) => (cells.get(cellOf(p, step)) ?? []).some((q) => isNear(p, q));
  return Uint8Array.from(points, (p) => (has(p, [0, 0, 0]) || AROUND.some((step) => has(p, step)) ? 0 : 1));
}

const STEPS = [-1, 0, 1];
const AROUND = STEPS.flatMap((a) => STEPS.flatMap((b) => STEPS.map((c): Vector => [a, b, c])));

/** The lowest point of square cells and of those around. */
function lowest(xyz: Float64Array, size: number): (x: number, y: number) => number | undefined {
  const floor = new Map<string, number>();
  const key = (x: number, y: number, a: number, b: number) => `${Math.floor(x / size) + a},${Math.floor(y / size) + b}`;
  for (let i = 0; i < xyz.length / 3; i += 1) {
    const [x, y, z] = pointAt(xyz, i);
    for (const a of [-1, 0, 1])
      for (const b of [-1, 0, 1]) {
        const at = key(x, y, a, b);
        floor.set(at, Math.min(floor.get(at) ?? Infinity, z));
      }
  }
  return (x, y) => floor.get(key(x, y, 0, 0));
}

/** Beams from a viewpoint that pass close by one thing and meet another over a metre behind it. */
function edgesFrom(viewpoint: Vector, xyz: Float64Array, step: number): Edge[] {
  const nearest = new Map<string, number>();
  const rays: { readonly range: number; readonly ray: Vector; readonly row: number; readonly column: number }[] = [];
  for (let i = 0; i < xyz.length / 3; i += 1) {
    const point = pointAt(xyz, i);
    const off: Vector = [point[0] - viewpoint[0], point[1] - viewpoint[1], point[2] - viewpoint[2]];
    const range = Math.hypot(...off);
    const column = Math.floor(Math.atan2(off[1], off[0]) / step);
    const row = Math.floor(Math.asin(off[2] / range) / step);
    const key = `${row},${column}`;
    if (!((nearest.get(key) ?? Infinity) < range)) nearest.set(key, range);
    rays.push({ range, ray: [off[0] / range, off[1] / range, off[2] / range], row, column });
  }
  return rays.flatMap(({ range, ray, row, column }) => {
    const beside = nearest.get(`${row},${column + 1}`);
    return beside !== undefined && range > beside + 1 ? [{ ray, near: beside, far: range }] : [];
  });
}

/** A cloud that noise can be planted into. Its edges are known, or seen from a place. */
export interface NoiselessCloud {
  readonly name: string;
  readonly xyz: Float64Array;
  /** Median distance of neighbours. */
  readonly spacing_m: number;
  /** Least distance of noise from the cloud and, clumps apart, from other noise. */
  readonly clearance_m: number;
  /** Least distance of ghost edges from the cloud. */
  readonly ghost_clearance_m: number;
  /** How far below the lowest points noise may lie. */
  readonly depth_m: number;
  readonly edges?: readonly Edge[];
  readonly viewpoint?: Vector;
  /** Radians between the beams from `viewpoint`. */
  readonly step?: number;
  /** Where the beams come from: three numbers, or three per point. */
  readonly origins?: Float64Array;
  /** Mixed pixels that stand where beams met an edge. */
  readonly trails?: readonly MixedPixel[];
}

export interface NoisyCloud {
  readonly xyz: Float64Array;
  /** Index in NOISE + 1 per point; 0 = of the cloud. */
  readonly kind: Uint8Array;
  /** Which point of the cloud it is; -1 = none. */
  readonly of: Int32Array;
  /** As of the cloud, null if not known. */
  readonly origins: Float64Array | null;
}

interface Planted {
  readonly p: Vector;
  readonly origin?: Vector;
  readonly kind: number;
}

function edgesOf({ name, edges, viewpoint, step, xyz }: NoiselessCloud): readonly Edge[] {
  if (edges) return edges;
  if (viewpoint === undefined || step === undefined)
    throw new Error(`${name}: neither edges nor a viewpoint are known`);
  return edgesFrom(viewpoint, xyz, step);
}

/** Adds noise to a cloud. The planted points come in between the others. */
export function plantNoise(cloud: NoiselessCloud, seed: number): NoisyCloud {
  const next = uniform(seed);
  const { xyz, spacing_m, clearance_m, ghost_clearance_m, depth_m, viewpoint = [0, 0, 0] } = cloud;
  const room = new Room(xyz, clearance_m);
  const { low, high } = boxOf(xyz);
  const floor = lowest(xyz, 4 * clearance_m);
  const planted: Planted[] = [];
  const put = (p: Vector, kind: Noise) => {
    planted.push({ p, kind: NOISE.indexOf(kind) + 1 });
    room.fill(p); // a point with another one close by would not be isolated
  };
  const until = (make: () => Vector | null, free = room): Vector => {
    for (let tries = 0; tries < 2000; tries += 1) {
      const p = make();
      if (p && free.isFree(p)) return p;
    }
    throw new Error(`${cloud.name}: no room for noise`);
  };
  const along = (axis: 0 | 1 | 2) => low[axis] + (high[axis] - low[axis]) * next();
  const anywhere = () => until(() => [along(0), along(1), along(2)]);
  const share = Math.min(1, xyz.length / 3 / 100_000);
  const times = (count: number) => Math.ceil(count * share);
  for (let i = 0; i < times(400); i += 1) put(anywhere(), "isolated");
  for (const { name, sizes } of CLUMPS)
    for (let i = 0; i < times(100); i += 1) {
      const middle = anywhere();
      const near = (axis: 0 | 1 | 2) => middle[axis] + spacing_m * (next() - 0.5);
      for (let j = 0; j < (sizes[i % sizes.length] ?? 0); j += 1) put([near(0), near(1), near(2)], name);
    }
  const below = (): Vector | null => {
    const [x, y] = [along(0), along(1)];
    const z = floor(x, y);
    return z === undefined ? null : [x, y, z - clearance_m - depth_m * next()];
  };
  for (let i = 0; i < times(200); i += 1) put(until(below), "below ground");
  const edges = edgesOf(cloud);
  const ghost = (): Vector | null => {
    const edge = edges[Math.floor(next() * edges.length)];
    if (!edge) return null;
    const range = edge.near + (edge.far - edge.near) * (0.05 + 0.9 * next());
    const at = (axis: 0 | 1 | 2) => viewpoint[axis] + range * edge.ray[axis];
    return [at(0), at(1), at(2)];
  };
  const beside = new Room(xyz, ghost_clearance_m);
  for (let i = 0; i < times(600) && edges.length > 0; i += 1) put(until(ghost, beside), "ghost edge");
  for (const trail of cloud.trails ?? []) planted.push({ ...trail, kind: NOISE.indexOf("trail") + 1 });
  return mix(cloud, planted, next);
}

/** Puts the planted points at random rows. Noise in the air gets the first origin. */
function mix({ xyz, origins }: NoiselessCloud, planted: readonly Planted[], next: Uniform): NoisyCloud {
  const count = xyz.length / 3 + planted.length;
  const rows = new Map<number, Planted>();
  for (const one of planted) {
    let row = Math.floor(next() * count);
    while (rows.has(row)) row = (row + 1) % count;
    rows.set(row, one);
  }
  const each = origins !== undefined && origins.length === xyz.length;
  const mixed = {
    xyz: new Float64Array(3 * count),
    kind: new Uint8Array(count),
    of: new Int32Array(count).fill(-1),
    origins: each ? new Float64Array(3 * count) : (origins ?? null),
  };
  for (let row = 0, from = 0; row < count; row += 1) {
    const one = rows.get(row);
    mixed.xyz.set(one ? one.p : xyz.subarray(3 * from, 3 * from + 3), 3 * row);
    if (each)
      mixed.origins?.set(
        one ? (one.origin ?? origins.subarray(0, 3)) : origins.subarray(3 * from, 3 * from + 3),
        3 * row,
      );
    if (one) mixed.kind[row] = one.kind;
    else mixed.of[row] = from++;
  }
  return mixed;
}
