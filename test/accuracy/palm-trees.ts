// Plantations of palms: a trunk without branches, and a head of long fronds. Sizes are those of textbooks: oil palms
// 9 m apart with 36 to 40 fronds of 5 to 8 m (Corley and Tinker, The Oil Palm, 5th edition, 2016); coconut and date palms of
// Dransfield et al., Genera Palmarum, 2008.
import type { Orchard, OrchardPlan, OrchardTree } from "./orchard-trees.ts";
import { BASE, groundOf, TRUNK_PART } from "./orchard-trees.ts";
import { gaussian, uniform } from "./random.ts";

interface Palm {
  readonly trunk_m: number;
  readonly radius_m: number;
  /** Standard deviation of the surface: old bases of fronds, or rings. */
  readonly rough_m: number;
  readonly fronds: number;
  readonly frond_m: number;
  readonly leaflet_m: number;
  /** Elevation of the youngest and the oldest frond at its base, and by how much they bend down, degrees. */
  readonly rise: readonly [number, number];
  readonly bend: readonly [number, number];
  readonly lean_deg: number;
}

const palm = (
  [trunk_m, radius_m, rough_m]: readonly number[],
  [fronds, frond_m, leaflet_m]: readonly number[],
  rise: Palm["rise"],
  bend: Palm["bend"],
  lean_deg: number,
): Palm => ({
  ...{ trunk_m: trunk_m ?? 0, radius_m: radius_m ?? 0, rough_m: rough_m ?? 0, fronds: fronds ?? 0 },
  ...{ frond_m: frond_m ?? 0, leaflet_m: leaflet_m ?? 0, rise, bend, lean_deg },
});

export const PALMS: Readonly<Record<string, Palm>> = {
  oil_palm_young: palm([0.8, 0.3, 0.03], [36, 4.5, 0.7], [85, 25], [50, 75], 0),
  oil_palm: palm([7, 0.24, 0.025], [38, 6.5, 1], [85, -15], [45, 75], 2),
  coconut: palm([11, 0.15, 0.004], [30, 5, 0.9], [80, -35], [40, 60], 6),
  date_palm: palm([6, 0.2, 0.02], [90, 3.5, 0.4], [85, -25], [20, 45], 1),
};

const KINDS = 8;
const PAIRS = 70;
const STEPS = 16;
const SIDES = 36;
const RING_M = 0.1;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** Triangles of a prototype, corners one after the other. */
type Corners = number[];
type Point = readonly [number, number, number];

function quad(out: Corners, a: Point, b: Point, c: Point, d: Point): void {
  for (const p of [a, b, c, a, c, d]) out.push(...p);
}

/** A frond whose base is the origin, towards +x: a square rachis, and leaflets on both sides. */
function frond(part: number, { frond_m, leaflet_m, rise, bend }: Palm, next: () => number): Corners {
  const out: Corners = [];
  const mix = ([from, to]: readonly [number, number]) => radians(from + (to - from) * part);
  const angle = (s: number) => mix(rise) - mix(bend) * s ** 1.3;
  const spine: { x: number; z: number; angle: number }[] = [{ x: 0, z: 0, angle: angle(0) }];
  for (let i = 0; i < STEPS; i += 1) {
    const last = spine[i] as (typeof spine)[number];
    const a = angle((i + 0.5) / STEPS);
    const step = frond_m / STEPS;
    spine.push({ x: last.x + step * Math.cos(a), z: last.z + step * Math.sin(a), angle: a });
  }
  const thick = (i: number) => 0.035 * (1 - i / STEPS) + 0.003;
  for (let i = 0; i < STEPS; i += 1) {
    const [a, b] = [spine[i] as (typeof spine)[number], spine[i + 1] as (typeof spine)[number]];
    const around = (p: typeof a, r: number): Point[] =>
      [
        [1, 0],
        [0, 1],
        [-1, 0],
        [0, -1],
      ].map(([side = 0, up = 0]) => [p.x - up * r * Math.sin(p.angle), side * r, p.z + up * r * Math.cos(p.angle)]);
    const [low, high] = [around(a, thick(i)), around(b, thick(i + 1))];
    for (let k = 0; k < 4; k += 1)
      quad(out, low[k] as Point, low[(k + 1) % 4] as Point, high[(k + 1) % 4] as Point, high[k] as Point);
  }
  for (let k = 0; k < 2 * PAIRS; k += 1) {
    const s = 0.15 + (0.85 * Math.floor(k / 2)) / PAIRS;
    const at = spine[Math.floor(s * STEPS)] as (typeof spine)[number];
    const part_of_step = s * STEPS - Math.floor(s * STEPS);
    const after = spine[Math.min(STEPS, Math.floor(s * STEPS) + 1)] as (typeof spine)[number];
    const [x, z] = [at.x + part_of_step * (after.x - at.x), at.z + part_of_step * (after.z - at.z)];
    const length = leaflet_m * Math.sin(Math.PI * (0.15 + 0.8 * s)) * (0.85 + 0.3 * next());
    const side = k % 2 === 0 ? 1 : -1;
    const forward = radians(35 + 15 * next());
    const droop = radians(10 + 45 * next());
    const along = Math.sin(forward) * length;
    const out_m = Math.cos(forward) * length;
    const tip: Point = [
      x + along * Math.cos(after.angle),
      side * out_m * Math.cos(droop),
      z + along * Math.sin(after.angle) - out_m * Math.sin(droop),
    ];
    const width = 0.04;
    const middle = (t: number, w: number): Point => [
      x + t * (tip[0] - x) + w * Math.cos(after.angle),
      t * tip[1],
      z + t * (tip[2] - z) + w * Math.sin(after.angle),
    ];
    quad(out, [x, 0, z], middle(0.4, -width / 2), tip, middle(0.4, width / 2));
  }
  return out;
}

/** A rough cylinder from the ground up, its radius at each ring, and its mean diameter at `at_m`. */
function trunk({ trunk_m, radius_m, rough_m }: Palm, next: () => number): Corners {
  const out: Corners = [];
  const rings = Math.max(4, Math.round(trunk_m / RING_M));
  const radii = Array.from({ length: rings + 1 }, () =>
    Array.from({ length: SIDES }, () => radius_m + rough_m * Math.max(-2, Math.min(2, gaussian(next)))),
  );
  const point = (ring: number, side: number): Point => {
    const [turn, r] = [(2 * Math.PI * (side % SIDES)) / SIDES, radii[ring]?.[side % SIDES] ?? 0];
    return [r * Math.cos(turn), r * Math.sin(turn), (ring / rings) * trunk_m];
  };
  for (let ring = 0; ring < rings; ring += 1)
    for (let side = 0; side < SIDES; side += 1)
      quad(out, point(ring, side), point(ring, side + 1), point(ring + 1, side + 1), point(ring + 1, side));
  for (let side = 0; side < SIDES; side += 1) out.push(...point(rings, side), ...point(rings, side + 1), 0, 0, trunk_m);
  return out;
}

/** Highest corner of an instance. */
function topOf(corners: Corners, matrix: readonly number[]): number {
  const [a = 0, b = 0, c = 0, d = 0] = matrix.slice(8);
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < corners.length; i += 3)
    top = Math.max(top, a * (corners[i] ?? 0) + b * (corners[i + 1] ?? 0) + c * (corners[i + 2] ?? 0) + d);
  return top;
}

/** Palms on flat ground, every second row half a space on. */
export function growPalms({ species, spacing, count }: OrchardPlan): Orchard {
  const spec = PALMS[species] as Palm;
  const next = uniform(11);
  const fronds = Array.from({ length: KINDS }, (_, kind) => frond((kind + 0.5) / KINDS, spec, next));
  const trees: OrchardTree[] = [];
  const [prototypes, codes, instance_prototype, instance_matrix]: [Corners[], number[], number[], number[]] = [
    [],
    [],
    [],
    [],
  ];
  for (let j = 0; j < count[1]; j += 1)
    for (let i = 0; i < count[0]; i += 1) {
      const [x, y] = [
        (i - (count[0] - 1) / 2 + (j % 2) / 2) * spacing[0] + 0.2 * (next() - 0.5),
        (j - (count[1] - 1) / 2) * spacing[1] + 0.2 * (next() - 0.5),
      ];
      const size = 0.9 + 0.2 * next();
      const own = { ...spec, trunk_m: spec.trunk_m * size, radius_m: spec.radius_m * (0.9 + 0.2 * next()) };
      const first = prototypes.length;
      prototypes.push(...fronds, trunk(own, next));
      for (let k = 0; k <= KINDS; k += 1) codes.push(trees.length);
      const [lean, to] = [Math.tan(radians(own.lean_deg * next())), 2 * Math.PI * next()];
      const [lean_x, lean_y] = [lean * Math.cos(to), lean * Math.sin(to)];
      let top = 0;
      const add = (prototype: number, matrix: readonly number[]) => {
        instance_prototype.push(first + prototype);
        instance_matrix.push(...matrix);
        top = Math.max(top, topOf(prototypes[first + prototype] ?? [], matrix));
      };
      add(KINDS, [1, 0, lean_x, x, 0, 1, lean_y, y, 0, 0, 1, 0]);
      const [head_x, head_y] = [x + lean_x * own.trunk_m, y + lean_y * own.trunk_m];
      for (let k = 0; k < own.fronds; k += 1) {
        const turn = k * GOLDEN;
        const [c, s] = [size * Math.cos(turn), size * Math.sin(turn)];
        const out_m = 0.7 * own.radius_m;
        const low = own.trunk_m - (0.25 * k) / own.fronds;
        const place = [head_x + (out_m * c) / size, head_y + (out_m * s) / size];
        add(Math.floor((KINDS * k) / own.fronds), [
          ...[c, -s, 0, place[0] ?? 0],
          ...[s, c, 0, place[1] ?? 0],
          ...[0, 0, size, low],
        ]);
      }
      // Facets touch the section from within.
      const trunk_m = 2 * own.radius_m * (1 - (Math.PI / SIDES) ** 2 / 6);
      const at_m = TRUNK_PART * top;
      trees.push({ x: x + lean_x * at_m, y: y + lean_y * at_m, height_m: top, trunk_m });
    }
  const firsts = [0];
  for (const corners of prototypes) firsts.push((firsts.at(-1) ?? 0) + corners.length / 9);
  const coded = (digit: (tree: number) => number) =>
    Uint32Array.from(prototypes.flatMap((corners, p) => Array(corners.length / 9).fill(digit(codes[p] ?? 0) + 1)));
  const vertices = Float32Array.from(prototypes.flat());
  const mesh = {
    prototype_vertices: vertices,
    prototype_indices: Uint32Array.from({ length: vertices.length / 3 }, (_, k) => k),
    prototype_first_triangle: firsts,
    instance_prototype: Uint32Array.from(instance_prototype),
    instance_matrix: Float32Array.from(instance_matrix),
  };
  const ground = groundOf(Math.max(spacing[0] * count[0], spacing[1] * count[1]) + 6);
  return {
    trees,
    meshes: [
      [{ ...mesh, prototype_organ_codes: coded((tree) => tree % BASE) }, ground],
      [{ ...mesh, prototype_organ_codes: coded((tree) => Math.floor(tree / BASE)) }, ground],
    ],
  };
}
