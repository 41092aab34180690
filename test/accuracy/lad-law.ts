// Beams drawn from Beer's law: a turbid medium of known leaf area density fills a cube; its leaves are points.
import { type Uniform, uniform } from "./random.ts";

type Triple = [number, number, number];

/** A homogeneous cube, its grid and the beams through it. */
export interface LawCase {
  readonly name: string;
  /** Edge of the cube and of its grid, metres; voxels per edge. */
  readonly edge: number;
  readonly voxels: number;
  readonly density: number;
  readonly g: number;
  readonly rotation: number;
  readonly pulses: number;
  /** Rays per pulse, each a return or a miss; 1 = single return. */
  readonly rays: number;
  /** Returns count by their energy. */
  readonly energy: boolean;
  /** Leaves are flat: `g` is not used. Every other pulse comes from above, and G is the mean of all beams, or that of each. */
  readonly planophile: "one G" | "G of each beam" | null;
}

const CUBE = { edge: 2, voxels: 4, density: 2, g: 0.5, rotation: 0, pulses: 40_000, rays: 1, energy: false } as const;
const PLAIN = { ...CUBE, planophile: null };
export const LAW_CASES: readonly LawCase[] = [
  { ...PLAIN, name: "cube, LAD 2" },
  { ...PLAIN, name: "cube, LAD 0.5", density: 0.5 },
  { ...PLAIN, name: "cube turned by 30 degrees", rotation: 30 },
  { ...PLAIN, name: "planophile G 0.35", g: 0.35 },
  { ...PLAIN, name: "4 returns per pulse", pulses: 10_000, rays: 4 },
  { ...PLAIN, name: "4 returns per pulse by energy", pulses: 10_000, rays: 4, energy: true },
  { ...PLAIN, name: "few beams", pulses: 4_000 },
  { ...CUBE, name: "planophile leaves from the side and from above, one G", planophile: "one G" },
  { ...CUBE, name: "the same, G of each beam", planophile: "G of each beam" },
];

/** Rows of a scan as flat arrays. */
export interface LawBeams {
  readonly positions: Float64Array;
  readonly origins: Float64Array;
  readonly is_miss: Uint8Array;
  readonly times: Float64Array;
  readonly target_index: Uint8Array;
}

const CENTER: Triple = [100, 200, 10];

/** Inclinations and azimuths over which the projection of planophile leaves is summed up. */
const STEPS = 90;

/** G of planophile leaves, density 2 / pi (1 + cos 2 t) of the inclination t, for a beam at an angle to the vertical. */
function planophileG(zenith: number): number {
  let sum = 0;
  for (let i = 0; i < STEPS; i += 1) {
    const t = ((i + 0.5) * Math.PI) / 2 / STEPS;
    for (let k = 0; k < STEPS; k += 1) {
      const turn = ((k + 0.5) * Math.PI) / STEPS;
      const cosine = Math.cos(zenith) * Math.cos(t) + Math.sin(zenith) * Math.sin(t) * Math.cos(turn);
      sum += ((1 + Math.cos(2 * t)) * Math.abs(cosine)) / STEPS / STEPS;
    }
  }
  return sum;
}

const PLANOPHILE = Array.from({ length: 901 }, (_, i) => planophileG(((i / 10) * Math.PI) / 180));

/** The same from a table of every tenth of a degree. */
function tabledG([, , z]: Triple): number {
  const at = Math.min(899.999, (1800 / Math.PI) * Math.acos(Math.min(1, Math.abs(z))));
  const low = Math.floor(at);
  const [a = 0, b = 0] = PLANOPHILE.slice(low, low + 2);
  return a + (at - low) * (b - a);
}

/** Scanner positions around the cube, or also above it, and places in it that the pulses aim at. */
function aim(next: Uniform, pulse: number, edge: number, above: boolean): { from: Triple; along: Triple } {
  const turn = (Math.PI / 2) * (pulse % 4) + 0.3;
  const high = above && pulse % 8 >= 4;
  const [away, height] = high ? [2, 6] : [6, -0.5];
  const from: Triple = [away * Math.cos(turn), away * Math.sin(turn), height];
  const to = [0, 1, 2].map(() => (next() - 0.5) * edge * 1.1);
  const along = to.map((value, axis) => value - (from[axis] ?? 0));
  const length = Math.hypot(...along);
  return { from, along: along.map((value) => value / length) as Triple };
}

/** Distances at which a ray enters and leaves the cube around the origin; null beside it. */
function crossing(from: Triple, along: Triple, edge: number): [number, number] | null {
  let [enter, leave] = [0, Number.POSITIVE_INFINITY];
  for (const axis of [0, 1, 2] as const) {
    const [a, b] = [-edge / 2, edge / 2].map((face) => (face - from[axis]) / along[axis]) as [number, number];
    enter = Math.max(enter, Math.min(a, b));
    leave = Math.min(leave, Math.max(a, b));
  }
  return enter < leave ? [enter, leave] : null;
}

/** Pulses whose rays end at distances of an exponential law, or pass. */
export function lawBeams(one: LawCase, seed: number): LawBeams {
  const { edge, density, rotation, pulses, rays } = one;
  const next = uniform(seed);
  const rows = pulses * rays;
  const [positions, origins] = [new Float64Array(3 * rows), new Float64Array(3 * rows)];
  const [is_miss, target_index] = [new Uint8Array(rows), new Uint8Array(rows)];
  const times = Float64Array.from({ length: rows }, (_, row) => Math.floor(row / rays));
  const [cosine, sine] = [Math.cos((rotation * Math.PI) / 180), Math.sin((rotation * Math.PI) / 180)];
  const put = (out: Float64Array, row: number, [x, y, z]: Triple) =>
    out.set([CENTER[0] + cosine * x - sine * y, CENTER[1] + sine * x + cosine * y, CENTER[2] + z], 3 * row);
  for (let row = 0; row < rows; row += rays) {
    const { from, along } = aim(next, row / rays, edge, one.planophile !== null);
    const g = one.planophile ? tabledG(along) : one.g;
    const inside = crossing(from, along, edge);
    for (let ray = 0; ray < rays; ray += 1) {
      const free = -Math.log(1 - next()) / (density * g);
      const hit = inside !== null && inside[0] + free < inside[1];
      const range = hit ? inside[0] + free : 1000;
      put(positions, row + ray, from.map((value, axis) => value + range * (along[axis] ?? 0)) as Triple);
      put(origins, row + ray, from);
      is_miss[row + ray] = hit ? 0 : 1;
      target_index[row + ray] = ray;
    }
  }
  return { positions, origins, is_miss, times, target_index };
}

export const lawGrid = ({ edge, voxels, rotation }: LawCase) => ({
  center: CENTER,
  size: [edge, edge, edge] as const,
  nx: voxels,
  ny: voxels,
  nz: voxels,
  rotation_deg: rotation,
  offsets: null,
  kept: null,
});
