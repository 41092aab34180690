// Noise planted into a cloud, so that it is known which points are noise and of what kind.
import { uniform } from "./random.mjs";

export const NOISE = ["isolated", "clump of 2", "clump of 3", "clump of 4", "below ground", "ghost edge"];

/** Finds out whether a place is farther than `clearance` from every point of a cloud. */
class Room {
  constructor(xyz, clearance) {
    this.xyz = xyz;
    this.clearance = clearance;
    this.cells = new Map();
    for (let i = 0; i < xyz.length; i += 3) {
      const key = this.key(...this.cell(xyz[i], xyz[i + 1], xyz[i + 2]));
      const cell = this.cells.get(key);
      if (cell) cell.push(i);
      else this.cells.set(key, [i]);
    }
  }
  cell(...p) {
    return p.map((value) => Math.floor(value / this.clearance));
  }
  key(i, j, k) {
    return `${i},${j},${k}`;
  }
  isFree(p) {
    const [i, j, k] = this.cell(...p);
    for (let a = i - 1; a <= i + 1; a += 1)
      for (let b = j - 1; b <= j + 1; b += 1)
        for (let c = k - 1; c <= k + 1; c += 1)
          for (const at of this.cells.get(this.key(a, b, c)) ?? [])
            if (Math.hypot(...p.map((value, axis) => value - this.xyz[at + axis])) < this.clearance) return false;
    return true;
  }
}

function box(xyz) {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let i = 0; i < xyz.length; i += 1) {
    low[i % 3] = Math.min(low[i % 3], xyz[i]);
    high[i % 3] = Math.max(high[i % 3], xyz[i]);
  }
  return { low, high };
}

/** The lowest point of square cells and of those around. */
function lowest(xyz, size) {
  const floor = new Map();
  const key = (x, y, a, b) => `${Math.floor(x / size) + a},${Math.floor(y / size) + b}`;
  for (let i = 0; i < xyz.length; i += 3)
    for (const a of [-1, 0, 1])
      for (const b of [-1, 0, 1]) {
        const at = key(xyz[i], xyz[i + 1], a, b);
        floor.set(at, Math.min(floor.get(at) ?? Infinity, xyz[i + 2]));
      }
  return (x, y) => floor.get(key(x, y, 0, 0));
}

/** Beams from a viewpoint that pass close by one thing and meet another over a metre behind it. */
function edgesFrom(viewpoint, xyz, step) {
  const nearest = new Map();
  const rays = [];
  for (let i = 0; i < xyz.length; i += 3) {
    const off = [0, 1, 2].map((axis) => xyz[i + axis] - viewpoint[axis]);
    const range = Math.hypot(...off);
    const column = Math.floor(Math.atan2(off[1], off[0]) / step);
    const row = Math.floor(Math.asin(off[2] / range) / step);
    const key = `${row},${column}`;
    if (!(nearest.get(key)?.range < range)) nearest.set(key, { range, row, column });
    rays.push({ range, ray: off.map((value) => value / range), row, column });
  }
  return rays.flatMap(({ range, ray, row, column }) => {
    const beside = nearest.get(`${row},${column + 1}`);
    return beside && range > beside.range + 1 ? [{ ray, near: beside.range, far: range }] : [];
  });
}

/**
 * Adds noise to a cloud of { xyz, spacing_m, clearance_m, depth_m (below the lowest points), edges or viewpoint and
 * step }: { xyz, kind: index in NOISE + 1 per point, 0 = of the cloud }. The planted points come in between the others.
 */
export function plantNoise(cloud, seed) {
  const next = uniform(seed);
  const { xyz, spacing_m, clearance_m, depth_m, viewpoint = [0, 0, 0] } = cloud;
  const room = new Room(xyz, clearance_m);
  const { low, high } = box(xyz);
  const floor = lowest(xyz, 4 * clearance_m);
  const planted = [];
  const put = (p, kind) => planted.push({ p, kind: NOISE.indexOf(kind) + 1 });
  const until = (make) => {
    for (let tries = 0; tries < 2000; tries += 1) {
      const p = make();
      if (p && room.isFree(p)) return p;
    }
    throw new Error(`${cloud.name}: no room for noise`);
  };
  const anywhere = () => until(() => low.map((value, axis) => value + (high[axis] - value) * next()));
  const share = Math.min(1, xyz.length / 3 / 100_000);
  const times = (count) => Math.ceil(count * share);
  for (let i = 0; i < times(400); i += 1) put(anywhere(), "isolated");
  for (const size of [2, 3, 4])
    for (let i = 0; i < times(100); i += 1) {
      const middle = anywhere();
      for (let j = 0; j < size; j += 1)
        put(
          middle.map((value) => value + spacing_m * (next() - 0.5)),
          `clump of ${size}`,
        );
    }
  for (let i = 0; i < times(200); i += 1)
    put(
      until(() => {
        const [x, y] = [0, 1].map((axis) => low[axis] + (high[axis] - low[axis]) * next());
        const z = floor(x, y);
        return z === undefined ? null : [x, y, z - clearance_m - depth_m * next()];
      }),
      "below ground",
    );
  const edges = cloud.edges ?? edgesFrom(viewpoint, xyz, cloud.step);
  for (let i = 0; i < times(600) && edges.length > 0; i += 1) {
    const place = until(() => {
      const { ray, near, far } = edges[Math.floor(next() * edges.length)];
      const range = near + (far - near) * (0.05 + 0.9 * next());
      return ray.map((value, axis) => viewpoint[axis] + range * value);
    });
    put(place, "ghost edge");
  }
  return mix(xyz, planted, next);
}

/** Puts the planted points at random rows. */
function mix(xyz, planted, next) {
  const count = xyz.length / 3 + planted.length;
  const rows = new Map();
  for (const one of planted) {
    let row = Math.floor(next() * count);
    while (rows.has(row)) row = (row + 1) % count;
    rows.set(row, one);
  }
  const mixed = { xyz: new Float64Array(3 * count), kind: new Uint8Array(count), of: new Int32Array(count).fill(-1) };
  for (let row = 0, from = 0; row < count; row += 1) {
    const one = rows.get(row);
    mixed.xyz.set(one ? one.p : xyz.subarray(3 * from, 3 * from + 3), 3 * row);
    if (one) mixed.kind[row] = one.kind;
    else mixed.of[row] = from++;
  }
  return mixed;
}
