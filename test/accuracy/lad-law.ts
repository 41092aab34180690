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
}

const CUBE = { edge: 2, voxels: 4, density: 2, g: 0.5, rotation: 0, pulses: 40_000, rays: 1, energy: false };
export const LAW_CASES: readonly LawCase[] = [
  { ...CUBE, name: "cube, LAD 2" },
  { ...CUBE, name: "cube, LAD 0.5", density: 0.5 },
  { ...CUBE, name: "cube turned by 30 degrees", rotation: 30 },
  { ...CUBE, name: "planophile G 0.35", g: 0.35 },
  { ...CUBE, name: "4 returns per pulse", pulses: 10_000, rays: 4 },
  { ...CUBE, name: "4 returns per pulse by energy", pulses: 10_000, rays: 4, energy: true },
  { ...CUBE, name: "few beams", pulses: 4_000 },
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

/** Scanner positions around the cube, and places in it that the pulses aim at. */
function aim(next: Uniform, pulse: number, edge: number): { from: Triple; along: Triple } {
  const turn = (Math.PI / 2) * (pulse % 4) + 0.3;
  const from: Triple = [6 * Math.cos(turn), 6 * Math.sin(turn), -0.5];
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
export function lawBeams({ edge, density, g, rotation, pulses, rays }: LawCase, seed: number): LawBeams {
  const next = uniform(seed);
  const rows = pulses * rays;
  const [positions, origins] = [new Float64Array(3 * rows), new Float64Array(3 * rows)];
  const [is_miss, target_index] = [new Uint8Array(rows), new Uint8Array(rows)];
  const times = Float64Array.from({ length: rows }, (_, row) => Math.floor(row / rays));
  const [cosine, sine] = [Math.cos((rotation * Math.PI) / 180), Math.sin((rotation * Math.PI) / 180)];
  const put = (out: Float64Array, row: number, [x, y, z]: Triple) =>
    out.set([CENTER[0] + cosine * x - sine * y, CENTER[1] + sine * x + cosine * y, CENTER[2] + z], 3 * row);
  for (let row = 0; row < rows; row += rays) {
    const { from, along } = aim(next, row / rays, edge);
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
