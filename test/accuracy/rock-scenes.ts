// Trees on rough ground: among boulders, above and below a cliff, on terraces that dry walls hold, beside ruins. All shapes are formulas.
import { uniform } from "./random.ts";
import { type Corners, crown, instanced, type P, quad } from "./thick-trees.ts";

export const ROCK_SIDE_M = 30;
const GRID_M = 0.1;
const BREAST_M = 1.3;
const SIDES = 40;

export type Height = (x: number, y: number) => number;

export interface RockTree {
  readonly x: number;
  readonly y: number;
  /** Of the ground at its middle. */
  readonly z: number;
  readonly height_m: number;
  readonly dbh_m: number;
}

export interface RockScene {
  readonly trees: readonly RockTree[];
  readonly boulders: readonly {
    readonly x: number;
    readonly y: number;
    readonly high_m: number;
    readonly wide_m: number;
  }[];
  readonly ground: Height;
  readonly meshes: ReturnType<typeof instanced>;
}

export const smooth = (t: number): number => Math.min(1, Math.max(0, t)) ** 2 * (3 - 2 * Math.min(1, Math.max(0, t)));

/** Uneven by a few centimetres. */
export const uneven: Height = (x, y) =>
  0.05 * Math.sin(1.3 * x + 0.4) * Math.cos(1.7 * y) + 0.03 * Math.sin(3.1 * x - 2.3 * y);

const GROUNDS: Readonly<Record<string, Height>> = {
  boulders: (x, y) => 0.2 * x + uneven(x, y),
  /** A face of 6 m, nearly upright. */
  cliff: (x, y) => 0.1 * x + 6 * smooth((x - 0.8 * Math.sin(0.5 * y)) / 0.5) + uneven(x, y),
  /** Steps of 1.8 m every 5 m. */
  terraces: (x, y) => {
    const step = Math.floor((x + 15) / 5);
    return 1.8 * (step + smooth((x + 15 - 5 * step - 4.8) / 0.2)) + 0.3 * uneven(x, y);
  },
  ruins: uneven,
};

/** Walls of the ruins: from, to, thickness, height, metres. */
const WALLS: readonly (readonly [number, number, number, number, number])[] = [
  [-8, -8, 6, -8, 2.6],
  [6, -8, 6, 4, 1.9],
  [-8, -8, -8, 1, 2.2],
  [-8, 5, 2, 5, 1.1],
];
const WALL_M = 0.6;

/** A cone of the radius at breast height, from `below_m` below the ground on. */
export function stem(radius_m: number, height_m: number, below_m = 1): Corners {
  const out: Corners = [];
  const [low, high] = [-below_m, 0.95 * height_m];
  const rings = Math.ceil((high - low) / 0.2);
  const point = (k: number, side: number): P => {
    const z = low + ((high - low) * k) / rings;
    const r = (radius_m * (height_m - z)) / (height_m - BREAST_M);
    const turn = (2 * Math.PI * side) / SIDES;
    return [r * Math.cos(turn), r * Math.sin(turn), z];
  };
  for (let k = 0; k < rings; k += 1)
    for (let side = 0; side < SIDES; side += 1)
      quad(out, point(k, side), point(k, side + 1), point(k + 1, side + 1), point(k + 1, side));
  return out;
}

/** The trees of a scene, and what is drawn of it: each prototype once, at its place. */
export class Scenery {
  readonly trees: RockTree[] = [];
  readonly prototypes: Corners[] = [];
  readonly places: P[] = [];

  put(shape: Corners, at: P = [0, 0, 0]): void {
    this.prototypes.push(shape);
    this.places.push(at);
  }
  /** A tree whose crown begins at four tenths of its height. */
  plant(
    [x, y, z]: P,
    grown: { high: number; radius: number; wide: number; leaves?: number; below?: number },
    next: () => number,
  ) {
    const { high, radius, wide, leaves = 4000, below } = grown;
    const out = stem(radius, high, below);
    crown({ height_m: high, crown_m: wide }, 0.4 * high, next, out, 0.02 + 0.1 * radius, leaves);
    let top = 0;
    for (let k = 2; k < out.length; k += 3) top = Math.max(top, out[k] ?? 0);
    this.trees.push({ x, y, z, height_m: top, dbh_m: 2 * radius });
    this.put(out, [x, y, z]);
  }
  isFree(x: number, y: number, away: number): boolean {
    return this.trees.every((one) => Math.hypot(one.x - x, one.y - y) >= away);
  }
  get meshes() {
    return instanced(this.prototypes, this.places, NOWHERE);
  }
}

/** A scene and, beside it, what a mirror across an axis (0 = x) at a place shows of it, without one of its things. */
export function mirrored(meshes: Scenery["meshes"], axis: 0 | 1 | 2, at_m: number, without = -1): Scenery["meshes"] {
  return meshes.map(([mesh, ground]) => {
    const { instance_matrix, instance_prototype } = mesh as {
      instance_matrix: Float32Array;
      instance_prototype: Uint32Array;
    };
    const kept = [...instance_prototype.keys()].filter((k) => k !== without);
    const row = 4 * axis;
    const turned = kept.flatMap((k) =>
      [...instance_matrix.subarray(12 * k, 12 * k + 12)].map((value, i) =>
        i === row + 3 ? 2 * at_m - value : i >= row && i < row + 3 ? -value : value,
      ),
    );
    return [
      {
        ...mesh,
        instance_matrix: Float32Array.from([...instance_matrix, ...turned]),
        instance_prototype: Uint32Array.from([...instance_prototype, ...kept]),
      },
      ground,
    ];
  }) as never;
}

/** An uneven ellipsoid, a third of it in the ground. */
function boulder(wide: number, high: number, next: () => number): Corners {
  const out: Corners = [];
  const phases = Array.from({ length: 6 }, () => 2 * Math.PI * next());
  const long = wide * (0.8 + 0.4 * next());
  const point = (row: number, side: number): P => {
    const [polar, turn] = [(Math.PI * row) / 24, (2 * Math.PI * (side % 48)) / 48];
    let r = 1;
    for (const [k, phase] of phases.entries())
      r += (0.22 / (k + 2)) * Math.sin((k + 1) * turn + phase) * Math.sin((k + 1) * polar + 2 * phase);
    return [
      (r * wide * Math.sin(polar) * Math.cos(turn)) / 2,
      (r * long * Math.sin(polar) * Math.sin(turn)) / 2,
      high * (0.25 + 0.75 * r * Math.cos(polar)),
    ];
  };
  for (let row = 0; row < 24; row += 1)
    for (let side = 0; side < 48; side += 1)
      quad(out, point(row, side), point(row, side + 1), point(row + 1, side + 1), point(row + 1, side));
  return out;
}

function walls(ground: Height): Corners {
  const out: Corners = [];
  for (const [x, y, u, v, high] of WALLS) {
    const long = Math.hypot(u - x, v - y);
    const [nx, ny] = [(-(v - y) / long) * (WALL_M / 2), ((u - x) / long) * (WALL_M / 2)];
    const steps = Math.ceil(long / 0.3);
    const top = (s: number) => high * (0.85 + 0.15 * Math.sin(2.1 * s * long) * Math.cos(0.9 * s * long));
    for (let k = 0; k < steps; k += 1) {
      const [s, t] = [k / steps, (k + 1) / steps];
      const at = (part: number, side: number, z: number): P => {
        const [px, py] = [x + part * (u - x), y + part * (v - y)];
        return [px + side * nx, py + side * ny, ground(px, py) + z];
      };
      for (const side of [-1, 1])
        quad(out, at(s, side, -0.3), at(t, side, -0.3), at(t, side, top(t)), at(s, side, top(s)));
      quad(out, at(s, -1, top(s)), at(t, -1, top(t)), at(t, 1, top(t)), at(s, 1, top(s)));
    }
    for (const part of [0, 1]) {
      const at = (side: number, z: number): P => [
        x + part * (u - x) + side * nx,
        y + part * (v - y) + side * ny,
        ground(x, y) + z,
      ];
      quad(out, at(-1, -0.3), at(1, -0.3), at(1, top(part)), at(-1, top(part)));
    }
  }
  return out;
}

/** Squares of the ground whose first corner is above `level`, metres. */
export function groundMesh(height: Height, side_m = ROCK_SIDE_M, level = -Infinity): Corners {
  const out: Corners = [];
  const half = side_m / 2 + 5;
  const count = Math.round((2 * half) / GRID_M);
  const at = (i: number, j: number): P => {
    const [x, y] = [i * GRID_M - half, j * GRID_M - half];
    return [x, y, height(x, y)];
  };
  for (let j = 0; j < count; j += 1)
    for (let i = 0; i < count; i += 1)
      if (at(i, j)[2] > level) quad(out, at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
  return out;
}

/** A mesh without instances is expected beside them: out of reach of any beam. */
export const NOWHERE = {
  vertices: [
    [0, 0, -1e4],
    [0.01, 0, -1e4],
    [0, 0.01, -1e4],
  ],
  triangles: [[0, 1, 2]],
  organ_codes: [0],
};

export const ROCKS = Object.keys(GROUNDS);

/** Organ codes: trees from 1 on, then boulders or walls; the ground has the last. */
export function rockScene(kind: string, seed = 7): RockScene {
  const next = uniform(seed);
  const ground = GROUNDS[kind] as Height;
  const scenery = new Scenery();
  const { trees } = scenery;
  const boulders: { x: number; y: number; high_m: number; wide_m: number }[] = [];
  const free = (x: number, y: number, away: number) =>
    [...trees, ...boulders].every((one) => Math.hypot(one.x - x, one.y - y) > away) &&
    (kind !== "ruins" ||
      WALLS.every(([a, b, c, d]) => {
        const t = Math.min(1, Math.max(0, ((x - a) * (c - a) + (y - b) * (d - b)) / ((c - a) ** 2 + (d - b) ** 2)));
        return Math.hypot(a + t * (c - a) - x, b + t * (d - b) - y) > 1;
      }));
  const small = kind === "terraces";
  while (trees.length < 16) {
    const [x, y] = [(next() - 0.5) * 26, (next() - 0.5) * 26];
    const face = kind === "cliff" ? Math.abs(x - 0.8 * Math.sin(0.5 * y) - 0.25) : 9;
    const wall = small ? (((x + 15) % 5) + 5) % 5 : 2;
    if (!free(x, y, 3.5) || face < 0.9 || wall > 4.4 || wall < 0.6) continue;
    const high = small ? 4 + 2 * next() : 12 + 6 * next();
    const radius = small ? 0.06 + 0.05 * next() : 0.1 + 0.1 * next();
    const size = small ? { wide: 1.2, leaves: 2500 } : { wide: 1.8 };
    scenery.plant([x, y, ground(x, y)], { high, radius, ...size }, next);
  }
  if (kind === "boulders")
    while (boulders.length < 16) {
      const [x, y] = [(next() - 0.5) * 28, (next() - 0.5) * 28];
      const high = 0.6 + 3 * next() ** 1.5;
      const wide = high * (0.8 + 0.8 * next());
      if (!free(x, y, 0.6 + wide / 2 + 0.3)) continue;
      scenery.put(boulder(wide, high, next), [x, y, ground(x, y)]);
      boulders.push({ x, y, high_m: high, wide_m: wide });
    }
  if (kind === "ruins") scenery.put(walls(ground));
  scenery.put(groundMesh(ground));
  return { trees, boulders, ground, meshes: scenery.meshes };
}
