import { gaussian, type Uniform, uniform } from "../../accuracy/random.ts";

/** Two rooms on either side of a wall, as boxes, scanned from both; for reconstructed surfaces. */
type Triple = readonly [number, number, number];
interface Box {
  readonly low: Triple;
  readonly high: Triple;
}

const box = (x0: number, x1: number, y0: number, y1: number, z0: number, z1: number): Box => ({
  low: [x0, y0, z0],
  high: [x1, y1, z1],
});

/** A wall of 0.12 m between x = 0 and 0.12 with a door and a window, outer walls of 0.2 m, a table, a shelf board. */
export const ROOM: readonly Box[] = [
  box(-3.2, 3.32, -2.7, 2.7, -0.2, 0),
  box(-3.2, 3.32, -2.7, 2.7, 2.6, 2.8),
  box(-3.2, -3, -2.7, 2.7, 0, 2.6),
  box(3.12, 3.32, -2.7, 2.7, 0, 2.6),
  box(-3, 3.12, -2.7, -2.5, 0, 2.6),
  box(-3, 3.12, 2.5, 2.7, 0, 2.6),
  box(0, 0.12, -2.5, -2, 0, 2.6),
  box(0, 0.12, -2, -1.1, 2.1, 2.6),
  box(0, 0.12, -1.1, 0.5, 0, 2.6),
  box(0, 0.12, 0.5, 1.7, 0, 0.9),
  box(0, 0.12, 0.5, 1.7, 2, 2.6),
  box(0, 0.12, 1.7, 2.5, 0, 2.6),
  box(-2.5, -1.1, 1.2, 2, 0.72, 0.75),
  ...[-2.5, -1.16].flatMap((x) => [1.2, 1.94].map((y) => box(x, x + 0.06, y, y + 0.06, 0, 0.72))),
  box(2.72, 3.12, -1.5, 1.5, 1.4, 1.43),
];
const SCANNERS: readonly Triple[] = [
  [-1.7, -0.4, 1.5],
  [1.6, 0.3, 1.6],
];

/** Distance along a ray to the nearest box. */
function distanceAlong(from: Triple, direction: Triple): number {
  let nearest = Number.POSITIVE_INFINITY;
  for (const { low, high } of ROOM) {
    let enter = 0;
    let leave = Number.POSITIVE_INFINITY;
    for (const axis of [0, 1, 2] as const) {
      const a = (low[axis] - from[axis]) / direction[axis];
      const b = (high[axis] - from[axis]) / direction[axis];
      enter = Math.max(enter, Math.min(a, b));
      leave = Math.min(leave, Math.max(a, b));
    }
    if (enter < leave) nearest = Math.min(nearest, enter);
  }
  return nearest;
}

export interface RoomScan {
  /** Between beams of a row, and between rows, degrees. */
  readonly step_deg: number;
  readonly row_step_deg: number;
  /** Standard deviation along the beam, metres. */
  readonly noise_m: number;
}

/** x, y, z of the returns of both scanners, in rows from 60 degrees below the horizon to the zenith; where each came from. */
export function scanRoom(
  { step_deg, row_step_deg, noise_m }: RoomScan,
  seed = 1,
): { readonly xyz: Float64Array; readonly origins: Float64Array } {
  const next = uniform(seed);
  const xyz: number[] = [];
  const origins: number[] = [];
  for (const from of SCANNERS) {
    for (let elevation = -60 + row_step_deg * next(); elevation < 90; elevation += row_step_deg) {
      for (let azimuth = step_deg * next(); azimuth < 360; azimuth += step_deg) {
        const [e, a] = [(elevation * Math.PI) / 180, (azimuth * Math.PI) / 180];
        const direction: Triple = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)];
        const range = distanceAlong(from, direction) + noise_m * gaussian(next);
        if (!Number.isFinite(range)) continue;
        xyz.push(...from.map((v, k) => v + range * (direction[k] as number)));
        origins.push(...from);
      }
    }
  }
  return { xyz: new Float64Array(xyz), origins: new Float64Array(origins) };
}

/** A rectangle of the exact surface: a corner, two sides, and the outward axis. */
interface Face {
  readonly corner: Triple;
  readonly u: Triple;
  readonly v: Triple;
  readonly outward: Triple;
}

/** The boundary of the union of the boxes: faces between full and empty cells of the grid of all their planes. */
export function roomFaces(): readonly Face[] {
  const planes = ([0, 1, 2] as const).map((k) =>
    [...new Set(ROOM.flatMap(({ low, high }) => [low[k], high[k]]))].sort((a, b) => a - b),
  ) as [number[], number[], number[]];
  const middle = (k: 0 | 1 | 2, i: number) => ((planes[k][i] ?? -99) + (planes[k][i + 1] ?? -99)) / 2;
  const isFull = (cell: Triple) => {
    const at = [middle(0, cell[0]), middle(1, cell[1]), middle(2, cell[2])] as const;
    return ROOM.some(({ low, high }) => ([0, 1, 2] as const).every((k) => at[k] > low[k] && at[k] < high[k]));
  };
  const faces: Face[] = [];
  const [nx, ny, nz] = planes.map((list) => list.length - 1) as [number, number, number];
  for (let cell = 0; cell < nx * ny * nz; cell++) {
    const at = [cell % nx, Math.floor(cell / nx) % ny, Math.floor(cell / nx / ny)] as const;
    if (!isFull(at)) continue;
    for (const axis of [0, 1, 2] as const) {
      for (const side of [0, 1]) {
        const beyond = at.map((i, k) => i + (k === axis ? 2 * side - 1 : 0)) as unknown as Triple;
        if (isFull(beyond)) continue;
        const corner = at.map((i, k) => planes[k as 0][k === axis ? i + side : i]) as unknown as Triple;
        const along = (other: number): Triple =>
          [0, 1, 2].map((k) =>
            k === other ? (planes[k as 0][at[k as 0] + 1] ?? 0) - (planes[k as 0][at[k as 0]] ?? 0) : 0,
          ) as unknown as Triple;
        const outward = [0, 1, 2].map((k) => (k === axis ? 2 * side - 1 : 0)) as unknown as Triple;
        faces.push({ corner, u: along((axis + 1) % 3), v: along((axis + 2) % 3), outward });
      }
    }
  }
  return faces;
}

const sum = (a: Triple, b: Triple, s = 1): Triple => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const norm = (a: Triple) => Math.hypot(...a);

/** The exact surface as two triangles per face, outward. */
export function roomMesh(): { readonly vertices: Float64Array; readonly indices: Uint32Array } {
  const faces = roomFaces();
  const vertices = faces.flatMap(({ corner, u, v }) => [
    ...corner,
    ...sum(corner, u),
    ...sum(sum(corner, u), v),
    ...sum(corner, v),
  ]);
  const indices = faces.flatMap(({ outward }, i) => {
    const turned = outward[0] + outward[1] + outward[2] < 0;
    return (turned ? [0, 2, 1, 0, 3, 2] : [0, 1, 2, 0, 2, 3]).map((k) => 4 * i + k);
  });
  return { vertices: new Float64Array(vertices), indices: new Uint32Array(indices) };
}

/** Largest distance between neighbouring beams, across the rows, on a surface at `place`; infinite if no scanner sees it. */
function spacingAt(place: Triple, outward: Triple, row_step_deg: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (const from of SCANNERS) {
    const to = sum(place, from, -1);
    const range = norm(to);
    const direction = to.map((v) => v / range) as unknown as Triple;
    const cosine = -(direction[0] * outward[0] + direction[1] * outward[1] + direction[2] * outward[2]);
    if (cosine <= 0.05 || direction[2] < -Math.sin(Math.PI / 3)) continue;
    if (distanceAlong(from, direction) < range - 1e-6) continue;
    least = Math.min(least, (range * row_step_deg * Math.PI) / 180 / cosine);
  }
  return least;
}

export interface SeenSurface {
  /** x, y, z, spread evenly. */
  readonly places: Float64Array;
  readonly area_m2: number;
}

/** Places of the surface that a scanner sees and on which its rows are at most `most_m` apart. */
export function seenSurface({ row_step_deg }: RoomScan, most_m: number, seed = 2): SeenSurface {
  const next: Uniform = uniform(seed);
  const places: number[] = [];
  let area = 0;
  const perSquareMetre = 400;
  for (const { corner, u, v, outward } of roomFaces()) {
    const whole = norm(u) * norm(v);
    const count = Math.floor(whole * perSquareMetre + next());
    for (let i = 0; i < count; i++) {
      const place = sum(sum(corner, u, next()), v, next());
      if (spacingAt(place, outward, row_step_deg) > most_m) continue;
      places.push(...place);
      area += 1 / perSquareMetre;
    }
  }
  return { places: new Float64Array(places), area_m2: area };
}
