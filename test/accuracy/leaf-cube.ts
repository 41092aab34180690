// Cubes of square leaves with a known distribution of inclinations.
import type { LeafAngleDensity } from "../../backend/native/lad.ts";
import { type Uniform, uniform } from "./random.ts";

export type Triple = [number, number, number];

/** Four scanners beside the cube or 45 degrees below, two above it, two beside and two above, or one right below. */
export type Seen = "level" | "from below" | "from above" | "level and from above" | "by one below";

export interface CubeCase {
  readonly name: string;
  readonly law: LeafAngleDensity;
  readonly density: number;
  readonly rotation: number;
  /** Rays of a pulse; above 1: several returns. */
  readonly rays: number;
  readonly moving: boolean;
  readonly seen: Seen;
  readonly seeds: number;
  /** G from triangles of the scans. */
  readonly own_g: boolean;
}

/** Edges of the cube, of its voxels and of a leaf, metres. */
export const EDGE = 2;
const VOXELS = 4;
export const LEAF = 0.03;
/** Pieces of a leaf along each edge that are told to voxels. */
const PIECES = 8;

/** An inclination of the law, by rejection. */
function inclination(law: LeafAngleDensity, next: Uniform): number {
  if (law.law === "spherical") return Math.acos(next());
  if (law.law !== "beta") throw new Error(`no leaves of law ${law.law}`);
  const [a, b] = [law.beta_nu - 1, law.beta_mu - 1];
  const mode = a / (a + b);
  const most = mode ** a * (1 - mode) ** b;
  for (;;) {
    const t = next();
    if (next() * most <= t ** a * (1 - t) ** b) return (t * Math.PI) / 2;
  }
}

/** Square leaves whose centres are uniform in a cube that is larger than the voxels by the leaves. */
export function leavesOf({ law, density }: CubeCase, seed: number) {
  const next = uniform(seed * 7919 + 17);
  const outer = EDGE + 2 * LEAF;
  const count = Math.round((density * outer ** 3) / LEAF ** 2);
  const vertices: Triple[] = [];
  const triangles: Triple[] = [];
  for (let i = 0; i < count; i += 1) {
    const center = [0, 1, 2].map(() => (next() - 0.5) * outer);
    const [tilt, turn, spin] = [inclination(law, next), 2 * Math.PI * next(), 2 * Math.PI * next()];
    const u: Triple = [Math.cos(tilt) * Math.cos(turn), Math.cos(tilt) * Math.sin(turn), -Math.sin(tilt)];
    const v: Triple = [-Math.sin(turn), Math.cos(turn), 0];
    const [c, s] = [(Math.cos(spin) * LEAF) / 2, (Math.sin(spin) * LEAF) / 2];
    const corner = (a: number, b: number) => center.map((at, k) => at + a * (u[k] ?? 0) + b * (v[k] ?? 0)) as Triple;
    const first = vertices.length;
    vertices.push(corner(c - s, s + c), corner(-c - s, -s + c), corner(-c + s, -s - c), corner(c + s, s - c));
    triangles.push([first, first + 1, first + 2], [first, first + 2, first + 3]);
  }
  return { vertices, triangles };
}

/** Leaf area density of each voxel, from the pieces of the leaves in it. */
export function trueDensity({ vertices }: ReturnType<typeof leavesOf>, grid: ReturnType<typeof gridOf>): Float64Array {
  const area = new Float64Array(VOXELS ** 3);
  const turn = (grid.rotation_deg * Math.PI) / 180;
  const [c, s] = [Math.cos(turn), Math.sin(turn)];
  const edges = grid.size.map((size) => size / VOXELS) as Triple;
  for (let leaf = 0; leaf < vertices.length; leaf += 4) {
    const [a, b, , d] = vertices.slice(leaf, leaf + 4) as [Triple, Triple, Triple, Triple];
    for (let n = 0; n < PIECES ** 2; n += 1) {
      const [u, v] = [((n % PIECES) + 0.5) / PIECES, (Math.floor(n / PIECES) + 0.5) / PIECES];
      const [x = 0, y = 0, z = 0] = a.map((at, k) => at + u * ((b[k] ?? 0) - at) + v * ((d[k] ?? 0) - at));
      const place = [c * x + s * y, -s * x + c * y, z].map((at, k) => Math.floor(at / (edges[k] ?? 1) + VOXELS / 2));
      const [i = -1, j = -1, k = -1] = place;
      if (Math.min(i, j, k) < 0 || Math.max(i, j, k) >= VOXELS) continue;
      const cell = i + VOXELS * (j + VOXELS * k);
      area[cell] = (area[cell] ?? 0) + (LEAF / PIECES) ** 2;
    }
  }
  return area.map((value) => value / (edges[0] * edges[1] * edges[2]));
}

/** The voxels; turned, they are those of the largest square within. */
export const gridOf = ({ rotation }: CubeCase) => ({
  center: [0, 0, 0] as const,
  size: (rotation === 0 ? [EDGE, EDGE, EDGE] : [EDGE / Math.SQRT2, EDGE / Math.SQRT2, EDGE]) as Triple,
  nx: VOXELS,
  ny: VOXELS,
  nz: VOXELS,
  rotation_deg: rotation,
  offsets: null,
  kept: null,
});
