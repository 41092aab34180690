// Meshes of two rooms on either side of a thin wall, scanned from both, against the exact surface of the generator.

import * as native from "../../backend/native/reconstruction.ts";
import { pointToMeshDistance } from "../../backend/native/registration.ts";
import * as surfaces from "../../backend/native/surfaces.ts";
import { type RoomScan, roomMesh, scanRoom, seenSurface } from "../support/scans/room.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";
import { uniform } from "./random.ts";

/** With `_seen`, it is known where each point was seen from. */
const METHODS = ["ball_pivoting", "ball_pivoting_seen", "poisson", "poisson_seen", "alpha_shape"] as const;
type Method = (typeof METHODS)[number];

const SCANS = {
  even: { step_deg: 0.4, row_step_deg: 0.4, noise_m: 0.003 },
  rows_5: { step_deg: 0.2, row_step_deg: 1, noise_m: 0.003 },
  rows_5_noisy: { step_deg: 0.2, row_step_deg: 1, noise_m: 0.005 },
  rows_5_sparse: { step_deg: 0.5, row_step_deg: 2.5, noise_m: 0.003 },
  rows_10_sparse: { step_deg: 0.25, row_step_deg: 2.5, noise_m: 0.003 },
} as const satisfies Record<string, RoomScan>;
const GROUPS = Object.keys(SCANS) as readonly (keyof typeof SCANS)[];

/** A place this far from the surface, or from the mesh, is beside it: a quarter of the wall's thickness. */
const BESIDE_M = 0.03;
/** Only where rows are at most this far apart has a mesh to reach the surface. */
const WIDEST_ROWS_M = 0.25;
const SAMPLES = 40_000;

interface Spread {
  readonly mean_mm: number;
  readonly p95_mm: number;
  /** Share farther than BESIDE_M. */
  readonly beside: number;
}
export interface RoomRow {
  readonly method: Method;
  readonly scan: (typeof GROUPS)[number];
  readonly points: number;
  readonly cpu_s: number;
  /** Area of the mesh over that of the surface seen. */
  readonly area: number;
  readonly cut_edges: number;
  readonly to_truth: Spread;
  readonly from_truth: Spread;
}

type Mesh = surfaces.SurfaceMesh;

async function meshOf(method: Method, points: Mesh["vertices"], beams: Mesh["vertices"]): Promise<Mesh> {
  if (method === "alpha_shape")
    return { vertices: points, indices: (await surfaces.alphaShape(points, null).promise).indices };
  const sides_are_known = method.endsWith("_seen");
  const pivots = method.startsWith("ball_pivoting");
  const orientation = sides_are_known ? "toward_origins" : pivots ? "agreeing" : "consistent";
  const params = { radius: 0.1, max_nn: 30, orientation, graph_neighbors: 15 } as const;
  const { normals } = await native.estimateNormals(points, sides_are_known ? beams : null, params).promise;
  if (pivots) {
    const balls = { radii: [], tile_points: 120_000, sides_are_known };
    const { indices } = await native.ballPivoting(points, normals, balls).promise;
    return { vertices: points, indices };
  }
  const poisson = { scale: 1.1, samples_per_node: 0.6, point_weight: 2, trim: true, depth: 8, memory_bytes: 2 ** 33 };
  return native.poissonSurface(points, normals, poisson).promise;
}

/** Places on the triangles, spread evenly. */
function placesOn(xyz: Float64Array, indices: ArrayLike<number>): Float64Array {
  const at = (i: number, k: number) => xyz[3 * (indices[i] ?? -1) + k] ?? Number.NaN;
  const upTo = new Float64Array(indices.length / 3);
  let area = 0;
  for (let t = 0; t < upTo.length; t++) {
    const [u, v] = [1, 2].map((c) => [0, 1, 2].map((k) => at(3 * t + c, k) - at(3 * t, k))) as [number[], number[]];
    const [[a = 0, b = 0, c = 0], [d = 0, e = 0, f = 0]] = [u, v];
    area += Math.hypot(b * f - c * e, c * d - a * f, a * e - b * d) / 2;
    upTo[t] = area;
  }
  const next = uniform(5);
  const places = new Float64Array(3 * SAMPLES);
  for (let i = 0; i < SAMPLES; i++) {
    const wanted = next() * area;
    let [low, high] = [0, upTo.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((upTo[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    const [p, q] = [next(), next()];
    const [u, v] = p + q > 1 ? [1 - p, 1 - q] : [p, q];
    for (let k = 0; k < 3; k++)
      places[3 * i + k] = at(3 * low, k) * (1 - u - v) + at(3 * low + 1, k) * u + at(3 * low + 2, k) * v;
  }
  return places;
}

async function spread(places: Float64Array, mesh: Mesh): Promise<Spread> {
  const params = { shift: [0, 0, 0], stride: 1, with_sides: false, bands_m: [] } as const;
  const { distances } = await pointToMeshDistance(positions(places), null, mesh, params).promise;
  const metres = Float64Array.from(values(distances), Math.abs).sort();
  const beside = metres.filter((one) => one > BESIDE_M).length / metres.length;
  const mean = metres.reduce((sum, one) => sum + one, 0) / metres.length;
  return { mean_mm: 1000 * mean, p95_mm: 1000 * (metres[Math.floor(0.95 * metres.length)] ?? Number.NaN), beside };
}

async function row(method: Method, scan: (typeof GROUPS)[number], exact: Mesh): Promise<RoomRow> {
  const { xyz, origins } = scanRoom(SCANS[scan]);
  const seen = seenSurface(SCANS[scan], WIDEST_ROWS_M);
  const points = positions(xyz);
  const beams = positions(origins);
  const before = process.cpuUsage();
  const raw = await meshOf(method, points, beams);
  const clean = await surfaces.cleanMesh(raw).promise;
  const { user, system } = process.cpuUsage(before);
  const found = {
    method,
    scan,
    points: xyz.length / 3,
    cpu_s: (user + system) / 1e6,
    area: (await surfaces.meshArea(clean).promise) / seen.area_m2,
    cut_edges: clean.crowded_edge_count,
    to_truth: await spread(placesOn(coordinatesOf(clean.vertices), values(clean.indices)), exact),
    from_truth: await spread(seen.places, clean),
  };
  for (const one of new Set([points, beams, raw.vertices, raw.indices, clean.vertices, clean.indices])) one.release();
  return found;
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<readonly RoomRow[]> {
  const { vertices, indices } = roomMesh();
  const exact = { vertices: positions(vertices), indices: column("u32", indices) };
  const rows: RoomRow[] = [];
  for (const scan of GROUPS.filter((name) => groups.includes(name)))
    for (const method of METHODS.filter((name) => methods.includes(name))) rows.push(await row(method, scan, exact));
  return rows;
}

const told = ({ mean_mm, p95_mm, beside }: Spread) =>
  `${mean_mm.toFixed(1)} / ${p95_mm.toFixed(1)} mm, ${(100 * beside).toFixed(1)} %`;

export const roomsPart: Part<RoomRow> = {
  methods: METHODS,
  groups: GROUPS,
  measure,
  tables: (rows) =>
    [
      "| scan, points | method | area of mesh / seen | mesh to truth: mean / p95, beside | truth to mesh: mean / p95, holes | cut edges | CPU s |",
      "|---|---|---|---|---|---|---|",
      ...rows.map(
        (one) =>
          `| ${one.scan}, ${one.points} | ${one.method} | ${one.area.toFixed(2)} | ${told(one.to_truth)} | ${told(one.from_truth)} | ${one.cut_edges} | ${one.cpu_s.toFixed(1)} |`,
      ),
      "",
    ].join("\n"),
  targets(rows) {
    const checked = rows.filter(({ method, scan }) => method !== "alpha_shape" && !scan.endsWith("sparse"));
    const missed = checked.filter((one) => one.to_truth.beside > 0.01 || one.from_truth.beside > 0.01);
    const names = missed.map(({ scan, method }) => `${scan} ${method}`).join(", ");
    return `${missed.length === 0 ? "reached" : "missed "}  at most 1 % beside the surface and 1 % holes (not sparse, not alpha shapes): ${names || "all"}`;
  },
};
