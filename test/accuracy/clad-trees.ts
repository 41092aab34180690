// Trees whose stem is not bare at breast height: ivy, shelters, stakes, guards, signs, limbs with needles; and trees on a steep slope.

import { type Uniform, uniform } from "./random.ts";
import { type Corners, crown, instanced, leaf, type P, quad, tube } from "./thick-trees.ts";

export interface Clad {
  readonly height_m: number;
  /** Of the stem at breast height. */
  readonly radius_m: number;
  readonly crown_m: number;
  /** Where the crown begins, metres. */
  readonly from_m: number;
  /** Rise of the ground in x. */
  readonly slope?: number;
  readonly cover: (tree: Clad, next: Uniform, out: Corners) => void;
}

const BREAST_M = 1.3;
const nothing = () => undefined;

export const stemRadius = ({ height_m, radius_m }: Clad, z: number): number =>
  (radius_m * (height_m - z)) / (height_m - BREAST_M);

/** Leaves of 6 cm between two distances of the bark; `layers` is their area over that of the bark. */
const ivy =
  (layers: number, near: number, far: number, high: number) =>
  (tree: Clad, next: Uniform, out: Corners): void => {
    const count = Math.round((layers * 2 * Math.PI * tree.radius_m * high) / 0.0036);
    for (let k = 0; k < count; k += 1) {
      const [turn, z] = [2 * Math.PI * next(), high * next()];
      const r = stemRadius(tree, z) + near + (far - near) * next();
      leaf(out, [r * Math.cos(turn), r * Math.sin(turn), z], 0.03, next);
    }
  };

const post = (out: Corners, x: number, y: number, high: number, radius: number) =>
  tube(
    out,
    [0, 0.5, 1].map((s): P => [x, y, s * high]),
    radius,
  );

const ring = (radius: number, count: number): (readonly [number, number])[] =>
  Array.from({ length: count }, (_, k) => {
    const turn = (2 * Math.PI * k) / count;
    return [radius * Math.cos(turn), radius * Math.sin(turn)] as const;
  });

function shelter(_: Clad, __: Uniform, out: Corners): void {
  const around = ring(0.06, 32);
  for (const [k, [x, y]] of around.entries()) {
    const [u, v] = around[(k + 1) % around.length] as readonly [number, number];
    quad(out, [x, y, 0], [u, v, 0], [u, v, 1.5], [x, y, 1.5]);
  }
  post(out, 0.09, 0, 1.4, 0.02);
}

function stakes(_: Clad, __: Uniform, out: Corners): void {
  const feet = ring(0.35, 3);
  for (const [x, y] of feet) post(out, x, y, 2, 0.04);
  for (const [k, [x, y]] of feet.entries()) {
    const [u, v] = feet[(k + 1) % 3] as readonly [number, number];
    tube(
      out,
      [0, 0.5, 1].map((s): P => [x + s * (u - x), y + s * (v - y), 1.9]),
      0.03,
    );
  }
}

function guard(_: Clad, __: Uniform, out: Corners): void {
  for (const [x, y] of ring(0.25, 16)) post(out, x, y, 1.8, 0.006);
  for (const z of [0.1, 0.9, 1.75])
    tube(
      out,
      [...ring(0.25, 24), [0.25, 0] as const].map(([x, y]): P => [x, y, z]),
      0.006,
    );
}

function sign(tree: Clad, _: Uniform, out: Corners): void {
  const y = stemRadius(tree, BREAST_M) + 0.01;
  quad(out, [-0.15, y, 1.1], [0.15, y, 1.1], [0.15, y, 1.5], [-0.15, y, 1.5]);
}

/** Whorls of branches with needles down to the ground. */
function limbs(tree: Clad, next: Uniform, out: Corners): void {
  for (let z = 0.25; z < tree.height_m - 0.3; z += 0.35) {
    const reach = tree.crown_m * (1 - z / tree.height_m);
    for (let k = 0; k < 6; k += 1) {
      const turn = 2 * Math.PI * ((k + 0.5 * next()) / 6) + z;
      const at = (s: number): P => [s * reach * Math.cos(turn), s * reach * Math.sin(turn), z - 0.15 * reach * s * s];
      tube(out, [0, 0.5, 1].map(at), 0.003 + 0.005 * reach);
      for (let n = 0; n < 120 * reach; n += 1) {
        const s = 0.12 + 0.88 * Math.sqrt(next());
        const [x, y, h] = at(s);
        const w = 0.25 * reach * (1.1 - s);
        leaf(out, [x + w * (2 * next() - 1), y + w * (2 * next() - 1), h + 0.04 * (2 * next() - 1)], 0.022, next);
      }
    }
  }
}

export const CLAD: Readonly<Record<string, Clad>> = {
  bare: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: nothing },
  ivy_thin: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: ivy(0.5, 0.02, 0.06, 6) },
  ivy_half: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: ivy(1.2, 0.03, 0.12, 6) },
  ivy_dense: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: ivy(5, 0.03, 0.15, 6) },
  ivy_full: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: ivy(12, 0.03, 0.15, 6) },
  ivy_low: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: ivy(5, 0.03, 0.15, 2) },
  shelter: { height_m: 2.6, radius_m: 0.012, crown_m: 0.4, from_m: 1.6, cover: shelter },
  stakes: { height_m: 5, radius_m: 0.035, crown_m: 0.8, from_m: 2.4, cover: stakes },
  guard: { height_m: 5, radius_m: 0.05, crown_m: 0.8, from_m: 2.2, cover: guard },
  sign: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, cover: sign },
  limbs_low: { height_m: 5, radius_m: 0.05, crown_m: 1, from_m: 4.5, cover: limbs },
  limbs: { height_m: 9, radius_m: 0.08, crown_m: 1.5, from_m: 8, cover: limbs },
  limbs_high: { height_m: 18, radius_m: 0.15, crown_m: 2.4, from_m: 17, cover: limbs },
  slope100: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, slope: 1, cover: nothing },
  slope60: { height_m: 16, radius_m: 0.17, crown_m: 2.2, from_m: 7, slope: 0.6, cover: nothing },
};

const SIDES = 40;

function stem(tree: Clad): Corners {
  const out: Corners = [];
  const [low, high] = [-tree.radius_m * (tree.slope ?? 0) * 1.5, 0.95 * tree.height_m];
  const rings = Math.ceil((high - low) / 0.2);
  const point = (k: number, side: number): P => {
    const z = low + ((high - low) * k) / rings;
    const [r, turn] = [stemRadius(tree, z), (2 * Math.PI * side) / SIDES];
    return [r * Math.cos(turn), r * Math.sin(turn), z];
  };
  for (let k = 0; k < rings; k += 1)
    for (let side = 0; side < SIDES; side += 1)
      quad(out, point(k, side), point(k, side + 1), point(k + 1, side + 1), point(k + 1, side));
  return out;
}

export interface CladTree {
  readonly x: number;
  readonly y: number;
  /** Of the ground at its middle. */
  readonly z: number;
  readonly height_m: number;
  readonly dbh_m: number;
}

function sloped(side: number, slope: number) {
  const half = side / 2;
  const at = (x: number, y: number) => [x, y, slope * x];
  return {
    vertices: [at(-half, -half), at(half, -half), at(half, half), at(-half, half)],
    triangles: [
      [0, 1, 2],
      [0, 2, 3],
    ],
    organ_codes: [0, 0],
  };
}

/** Trees of one kind in a square of `n` by `n`. */
export function growClad(kind: string, n: number, seed = 5) {
  const spec = CLAD[kind] as Clad;
  const next = uniform(seed);
  const spacing = Math.max(3, 2.4 * spec.crown_m);
  const slope = spec.slope ?? 0;
  const [trees, prototypes, places]: [CladTree[], Corners[], P[]] = [[], [], []];
  for (let j = 0; j < n; j += 1)
    for (let i = 0; i < n; i += 1) {
      const shape: Clad = { ...spec, radius_m: spec.radius_m * (0.7 + 0.6 * next()) };
      const out = stem(shape);
      if (spec.cover !== limbs)
        crown(
          shape,
          shape.from_m,
          next,
          out,
          0.02 + 0.02 * shape.height_m * 0.2,
          Math.round(1500 * Math.max(0.2, shape.crown_m)),
        );
      spec.cover(shape, next, out);
      let top = 0;
      for (let k = 2; k < out.length; k += 3) top = Math.max(top, out[k] ?? 0);
      const [x, y] = [
        (i - (n - 1) / 2) * spacing + 0.3 * (next() - 0.5),
        (j - (n - 1) / 2) * spacing + 0.3 * (next() - 0.5),
      ];
      prototypes.push(out);
      places.push([x, y, slope * x]);
      trees.push({ x, y, z: slope * x, height_m: top, dbh_m: 2 * shape.radius_m });
    }
  const side_m = spacing * n;
  return { trees, side_m, slope, meshes: instanced(prototypes, places, sloped(side_m + 8, slope)) };
}
