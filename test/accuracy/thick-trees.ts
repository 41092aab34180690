// Trees whose trunk is no round pole at breast height: giants, buttresses, stilt roots, bottles. The shapes are formulas;
// their sizes those of Fisher 1982 (buttresses), Gill and Tomlinson 1977 (Rhizophora), Sillett et al. 2010 (giants).
import { BASE, groundOf, type Orchard, type OrchardTree } from "./orchard-trees.ts";
import { uniform } from "./random.ts";

export interface Thick {
  readonly height_m: number;
  /** Of the round trunk, above what widens its foot. */
  readonly radius_m: number;
  /** Height that ribs or roots reach, and how far from the trunk's surface they end at the ground, metres. */
  readonly foot_m: number;
  readonly reach_m: number;
  readonly ribs: number;
  /** Half width of a rib, metres. */
  readonly rib_m: number;
  readonly kind: "round" | "ribs" | "stilts" | "bottle";
  readonly crown_m: number;
}

export const THICK: Readonly<Record<string, Thick>> = {
  giant: { height_m: 60, radius_m: 1.6, foot_m: 3, reach_m: 0.6, ribs: 0, rib_m: 0, kind: "round", crown_m: 6 },
  old_oak: { height_m: 22, radius_m: 0.9, foot_m: 1, reach_m: 0.4, ribs: 0, rib_m: 0, kind: "round", crown_m: 8 },
  buttressed: {
    height_m: 35,
    radius_m: 0.4,
    foot_m: 3.2,
    reach_m: 1.8,
    ribs: 6,
    rib_m: 0.06,
    kind: "ribs",
    crown_m: 6,
  },
  fluted: { height_m: 25, radius_m: 0.3, foot_m: 1.8, reach_m: 0.4, ribs: 5, rib_m: 0.08, kind: "ribs", crown_m: 4 },
  mangrove: {
    height_m: 12,
    radius_m: 0.1,
    foot_m: 2,
    reach_m: 2,
    ribs: 14,
    rib_m: 0.025,
    kind: "stilts",
    crown_m: 2.5,
  },
  baobab: { height_m: 14, radius_m: 1.5, foot_m: 0, reach_m: 0, ribs: 0, rib_m: 0, kind: "bottle", crown_m: 5 },
};

const SIDES = 120;
const RING_M = 0.1;

/** Distance of the surface from the axis at height z, towards the angle `turn`. */
export function radiusOf(tree: Thick, z: number, turn: number, phase: number): number {
  const { height_m, radius_m, foot_m, reach_m, ribs, rib_m, kind } = tree;
  if (kind === "bottle") {
    const part = z / (0.5 * height_m);
    return radius_m * (1.05 - 0.35 * part * part) * (1 + 0.03 * Math.sin(3 * turn + phase));
  }
  const taper = radius_m * (1 - 0.75 * (z / height_m));
  const down = Math.max(0, 1 - z / Math.max(foot_m, 1e-9));
  if (kind === "round") return taper + reach_m * down ** 3 * (1 + 0.15 * Math.sin(5 * turn + phase));
  if (kind === "stilts") return z < 0.5 * foot_m ? 0.02 : taper;
  const out = taper + reach_m * down ** 1.5;
  // A rib is a plate of constant width: in polar form the distance at which its side is met.
  let r = taper;
  for (let k = 0; k < ribs; k += 1) {
    const away = Math.abs(((turn - phase - (2 * Math.PI * k) / ribs + 3 * Math.PI) % (2 * Math.PI)) - Math.PI);
    if (away > Math.PI / 2) continue;
    r = Math.max(r, Math.min(out, rib_m / Math.max(1e-6, Math.sin(away))));
  }
  return r;
}

/** Half the girth (of the convex hull) over pi at a height, twice: what a tape shows; and the diameter of the area. */
export function tapeOf(tree: Thick, z: number, phase: number): { tape_m: number; area_m: number } {
  const points = Array.from({ length: 720 }, (_, k) => {
    const turn = (2 * Math.PI * k) / 720;
    const r = radiusOf(tree, z, turn, phase);
    return [r * Math.cos(turn), r * Math.sin(turn)] as const;
  });
  let area = 0;
  for (const [k, [x, y]] of points.entries()) {
    const [u = 0, v = 0] = points[(k + 1) % points.length] ?? [];
    area += (x * v - u * y) / 2;
  }
  // Cauchy: the girth of a convex body is pi times its mean width.
  let width = 0;
  for (let k = 0; k < 180; k += 1) {
    const [c, s] = [Math.cos((Math.PI * k) / 180), Math.sin((Math.PI * k) / 180)];
    const across = points.map(([x, y]) => c * x + s * y);
    width += (Math.max(...across) - Math.min(...across)) / 180;
  }
  return { tape_m: width, area_m: 2 * Math.sqrt(area / Math.PI) };
}

export type Corners = number[];
export type P = readonly [number, number, number];
export const quad = (out: Corners, a: P, b: P, c: P, d: P) => {
  for (const p of [a, b, c, a, c, d]) out.push(...p);
};

function trunk(tree: Thick, phase: number, lean: number): Corners {
  const out: Corners = [];
  const top = tree.kind === "bottle" ? 0.5 * tree.height_m : 0.9 * tree.height_m;
  const from = tree.kind === "stilts" ? 0.5 * tree.foot_m : 0;
  const rings = Math.ceil((top - from) / RING_M);
  const point = (ring: number, side: number): P => {
    const z = from + ((top - from) * ring) / rings;
    const turn = (2 * Math.PI * (side % SIDES)) / SIDES;
    const r = radiusOf(tree, z, turn, phase);
    return [r * Math.cos(turn) + lean * z, r * Math.sin(turn), z];
  };
  for (let ring = 0; ring < rings; ring += 1)
    for (let side = 0; side < SIDES; side += 1)
      quad(out, point(ring, side), point(ring, side + 1), point(ring + 1, side + 1), point(ring + 1, side));
  return out;
}

/** A tube of eight sides along points. */
export function tube(out: Corners, along: readonly P[], radius: number): void {
  const ring = (k: number): P[] => {
    const a = along[Math.max(0, k - 1)] as P;
    const b = along[Math.min(along.length - 1, k + 1)] as P;
    const d = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const n = Math.hypot(...d);
    const t = d.map((v) => v / n) as [number, number, number];
    const u: [number, number, number] = Math.abs(t[2]) < 0.9 ? [-t[1], t[0], 0] : [0, -t[2], t[1]];
    const m = Math.hypot(...u);
    const v = u.map((w) => w / m) as [number, number, number];
    const w: P = [t[1] * v[2] - t[2] * v[1], t[2] * v[0] - t[0] * v[2], t[0] * v[1] - t[1] * v[0]];
    const at = along[k] as P;
    return Array.from({ length: 8 }, (_, s): P => {
      const [c, e] = [Math.cos((s * Math.PI) / 4) * radius, Math.sin((s * Math.PI) / 4) * radius];
      return [at[0] + c * v[0] + e * w[0], at[1] + c * v[1] + e * w[1], at[2] + c * v[2] + e * w[2]];
    });
  };
  for (let k = 0; k + 1 < along.length; k += 1) {
    const [low, high] = [ring(k), ring(k + 1)];
    for (let s = 0; s < 8; s += 1) quad(out, low[s] as P, low[(s + 1) % 8] as P, high[(s + 1) % 8] as P, high[s] as P);
  }
}

function roots(tree: Thick, next: () => number, out: Corners): void {
  for (let k = 0; k < tree.ribs; k += 1) {
    const turn = 2 * Math.PI * ((k + next()) / tree.ribs);
    const [high, reach] = [tree.foot_m * (0.5 + 0.5 * next()), tree.reach_m * (0.4 + 0.6 * next())];
    tube(
      out,
      Array.from({ length: 13 }, (_, s): P => {
        const part = s / 12;
        const away = tree.radius_m * 0.5 + reach * part;
        return [away * Math.cos(turn), away * Math.sin(turn), high * (1 - part ** 2.2)];
      }),
      tree.rib_m,
    );
  }
}

/** A square leaf about a place, turned at random. */
export function leaf(out: Corners, at: P, half: number, next: () => number): void {
  const [a, b] = [2 * Math.PI * next(), Math.PI * (next() - 0.5)];
  const u: P = [half * Math.cos(a), half * Math.sin(a), 0];
  const v: P = [-half * Math.sin(a) * Math.cos(b), half * Math.cos(a) * Math.cos(b), half * Math.sin(b)];
  const c = (i: number, j: number): P => [
    at[0] + i * u[0] + j * v[0],
    at[1] + i * u[1] + j * v[1],
    at[2] + i * u[2] + j * v[2],
  ];
  quad(out, c(-1, -1), c(1, -1), c(1, 1), c(-1, 1));
}

/** Leaves and branches of a crown: an ellipsoid of quads, with thick branches towards its surface. */
export function crown(
  tree: { readonly height_m: number; readonly crown_m: number },
  low: number,
  next: () => number,
  out: Corners,
  branch_m: number,
  leaves: number,
): void {
  const mid = (low + tree.height_m) / 2;
  const half = (tree.height_m - low) / 2;
  for (let k = 0; k < 14; k += 1) {
    const [turn, z] = [2.4 * k, low + (tree.height_m - low) * 0.6 * (k / 14)];
    const reach = tree.crown_m * 0.8 * Math.sqrt(Math.max(0.1, 1 - ((z + 2 - mid) / half) ** 2));
    tube(
      out,
      [0, 0.5, 1].map((s): P => [s * reach * Math.cos(turn), s * reach * Math.sin(turn), z + s * 0.4 * reach]),
      branch_m,
    );
  }
  for (let k = 0; k < leaves; ) {
    const p = [0, 1, 2].map(() => 2 * next() - 1) as [number, number, number];
    if (Math.hypot(...p) > 1 || Math.hypot(...p) < 0.45) continue;
    k += 1;
    const at: P = [tree.crown_m * p[0], tree.crown_m * p[1], mid + half * p[2]];
    leaf(out, at, 0.09, next);
  }
}

export interface ThickTree extends OrchardTree {
  readonly shape: Thick;
  readonly phase: number;
}

/** Trees at their places and their ground, in the form that lidarScan takes, once for each digit of their numbers. */
export function instanced(prototypes: readonly Corners[], places: readonly P[], ground: object): Orchard["meshes"] {
  const firsts = [0];
  for (const corners of prototypes) firsts.push((firsts.at(-1) ?? 0) + corners.length / 9);
  const coded = (digit: (tree: number) => number) => {
    const codes = new Uint32Array(firsts.at(-1) ?? 0);
    for (const k of prototypes.keys()) codes.fill(digit(k) + 1, firsts[k], firsts[k + 1]);
    return codes;
  };
  const vertices = new Float32Array(9 * (firsts.at(-1) ?? 0));
  for (const [k, corners] of prototypes.entries()) vertices.set(corners, 9 * (firsts[k] ?? 0));
  const mesh = {
    prototype_vertices: vertices,
    prototype_indices: Uint32Array.from({ length: vertices.length / 3 }, (_, k) => k),
    prototype_first_triangle: firsts,
    instance_prototype: Uint32Array.from(prototypes.keys()),
    instance_matrix: Float32Array.from(places.flatMap(([x, y, z]) => [1, 0, 0, x, 0, 1, 0, y, 0, 0, 1, z])),
  };
  return [
    [{ ...mesh, prototype_organ_codes: coded((tree) => tree % BASE) }, ground],
    [{ ...mesh, prototype_organ_codes: coded((tree) => Math.floor(tree / BASE)) }, ground],
  ];
}

/** Trees of one kind in a square of `n` by `n`, on flat ground. */
export function growThick(
  species: string,
  n: number,
  seed = 11,
): Omit<Orchard, "trees"> & { trees: ThickTree[]; side_m: number } {
  const spec = THICK[species] as Thick;
  const next = uniform(seed);
  const spacing = Math.max(2.4 * spec.crown_m, 2 * (spec.reach_m + spec.radius_m) + 3);
  const [trees, prototypes, places]: [ThickTree[], Corners[], P[]] = [[], [], []];
  for (let j = 0; j < n; j += 1)
    for (let i = 0; i < n; i += 1) {
      const size = 0.7 + 0.6 * next();
      const shape: Thick = {
        ...spec,
        radius_m: spec.radius_m * size,
        foot_m: spec.foot_m * (0.7 + 0.6 * next()),
        reach_m: spec.reach_m * size,
      };
      const phase = 2 * Math.PI * next();
      const out = trunk(shape, phase, 0);
      if (shape.kind === "stilts") roots(shape, next, out);
      const low = shape.kind === "bottle" ? 0.5 : shape.kind === "stilts" ? 0.4 : 0.45;
      crown(shape, low * shape.height_m, next, out, 0.15 * shape.radius_m + 0.02, 9000);
      let top = 0;
      for (let k = 2; k < out.length; k += 3) top = Math.max(top, out[k] ?? 0);
      const [x, y] = [(i - (n - 1) / 2) * spacing + next() - 0.5, (j - (n - 1) / 2) * spacing + next() - 0.5];
      prototypes.push(out);
      places.push([x, y, 0]);
      trees.push({ x, y, height_m: top, trunk_m: 0, shape, phase });
    }
  const side_m = spacing * n;
  return { trees, side_m, meshes: instanced(prototypes, places, groundOf(side_m + 10)) };
}
