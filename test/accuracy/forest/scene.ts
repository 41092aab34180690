// The surfaces of a stand, and its scans.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "../../../backend/jobs/job.ts";
import * as native from "../../../backend/native/ray.ts";
import { scanParams } from "../../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../../shared/contract/lidar.ts";
import { root } from "../../bench/folders.ts";
import { column, coordinatesOf, values } from "../native.ts";
import { uniform } from "../random.ts";
import type { Height } from "../relief.ts";
import type { Vector } from "../vector.ts";
import { layout, type StandKind, slopeOf } from "./layout.ts";
import { cross } from "./stem.ts";
import { NO_CYLINDER, NO_SURFACE, Numbers, SCANNED, Surface } from "./surface.ts";
import { Terrain } from "./terrain.ts";
import { type GrownTree, growTree, type TreePlan, type TreeTruth } from "./tree.ts";

/** Settings of the scanner, of which one beam in `every` rows and columns is fired. */
const SCANNER = "leica_blk360_g2";
/** Of the scanner above the ground, metres. */
const TRIPOD_M = 1.6;

/** What a stand consists of. */
export interface Scene {
  readonly scene: native.NativeScanScene;
  readonly ground: Height;
  readonly plans: readonly TreePlan[];
  readonly truths: readonly TreeTruth[];
  /** Of all trees after each other: Wood.cylinders, Wood.orders. */
  readonly cylinders: Float64Array;
  readonly orders: Uint8Array;
  /** First cylinder of each tree. */
  readonly first_cylinder: readonly number[];
  readonly triangle_count: number;
  /** Middle and area of each leaf after each other: x, y, z, metres, and square metres of one side. */
  leaves(): Float64Array;
}

/** Middles and areas of the leaves of trees: rhombi of four corners. */
function leafPlaces(trees: readonly GrownTree[]): Float64Array {
  const found = new Numbers();
  for (const { shoots, prototypes, matrices } of trees) {
    const m = matrices.values;
    for (const [i, prototype] of prototypes.values.entries()) {
      const corners = shoots[prototype]?.corners ?? new Float64Array(0);
      for (let at = 0; at < corners.length; at += 12) {
        const [a, b, c, d] = [0, 3, 6, 9].map((k) => corners.subarray(at + k, at + k + 3)) as [
          Corner,
          Corner,
          Corner,
          Corner,
        ];
        const [u, v] = [minus(c, a), minus(d, b)];
        const middle = [0, 1, 2].map((k) => ((a[k] ?? 0) + (c[k] ?? 0)) / 2);
        const place = [0, 4, 8].map(
          (row) =>
            [0, 1, 2].reduce((sum, k) => sum + (m[12 * i + row + k] ?? 0) * (middle[k] ?? 0), 0) +
            (m[12 * i + row + 3] ?? 0),
        ) as [number, number, number];
        found.push(...place, Math.hypot(...cross(u, v)) / 2);
      }
    }
  }
  return found.values.slice();
}
type Corner = Float64Array;
const minus = (a: Corner, b: Corner): Vector => [
  (a[0] ?? 0) - (b[0] ?? 0),
  (a[1] ?? 0) - (b[1] ?? 0),
  (a[2] ?? 0) - (b[2] ?? 0),
];

/** All shoots as prototypes, all places as instances. */
function leaves(trees: readonly GrownTree[]) {
  const prototypes = new Surface();
  const firsts = [0];
  const [which, matrices] = [new Numbers(), new Numbers()];
  for (const tree of trees) {
    const before = firsts.length - 1;
    for (const { surface } of tree.shoots) {
      prototypes.append(surface);
      firsts.push(prototypes.triangleCount);
    }
    for (const prototype of tree.prototypes.values) which.push(before + prototype);
    matrices.append(tree.matrices.values);
  }
  return { prototypes, firsts, which, matrices };
}

/** The same stand at another time, or other trees, and what stands beside them. */
export interface SceneChange {
  /** In place of the trees of the stand. */
  readonly plans?: readonly TreePlan[];
  readonly build?: (surface: Surface, ground: Height) => void;
  /** Null: the tree is gone. */
  readonly plan?: (plan: TreePlan) => TreePlan | null;
  readonly hasLeaves?: (plan: TreePlan) => boolean;
}

export async function buildScene(
  kind: StandKind,
  seed: number,
  side: number,
  job: Job,
  change: SceneChange = {},
): Promise<Scene> {
  const terrain = new Terrain(seed * 101, side, slopeOf(kind));
  const planned = change.plans ?? layout(kind, seed, side);
  const plans = planned.flatMap((plan) => (change.plan ? (change.plan(plan) ?? []) : plan));
  const surface = new Surface();
  terrain.addTo(surface);
  change.build?.(surface, terrain.height);
  const trees = plans.map((plan) => growTree(plan, seed, terrain.height, surface));
  const { prototypes, firsts, which, matrices } = leaves(
    trees.filter((_, i) => change.hasLeaves?.(plans[i] as TreePlan) ?? true),
  );
  const mesh: native.SceneMesh = {
    name: kind,
    origin: [0, 0, 0],
    surfaces: surface.lists(),
    prototypes: which.length > 0 ? prototypes.lists() : NO_SURFACE,
    firsts,
    instance_prototype: column("f64", which.values),
    instance_matrix: column("f64", matrices.values),
  };
  const opened = await job.track(() => native.openScanScene([mesh], []));
  const first_cylinder: number[] = [];
  const [cylinders, orders] = [new Numbers(), new Numbers()];
  for (const { wood } of trees) {
    first_cylinder.push(orders.length);
    cylinders.append(wood.cylinders);
    orders.append(Float64Array.from(wood.orders));
  }
  return {
    scene: opened.scene,
    ground: terrain.height,
    plans,
    truths: trees.map(({ truth }) => truth),
    cylinders: cylinders.values.slice(),
    orders: Uint8Array.from(orders.values),
    first_cylinder,
    triangle_count: opened.triangle_count,
    leaves: () => leafPlaces(trees),
  };
}

/** Tripods on a square lattice, each at the nearest place that no stem or small tree takes. */
export function tripods(count: number, side: number, plans: readonly TreePlan[], ground: Height): Vector[] {
  const across = Math.round(Math.sqrt(count));
  if (across ** 2 !== count) throw new Error(`${count} tripods are not a square lattice`);
  const free = (x: number, y: number) =>
    plans.every((plan) => {
      const near = plan.crown_base_m < 2 ? plan.crown_radius_m + 0.5 : plan.diameter_m / 2 + 0.8;
      return Math.hypot(plan.x - x, plan.y - y) > near;
    });
  return Array.from({ length: count }, (_, k): Vector => {
    const [x0, y0] = [k % across, Math.floor(k / across)].map((i) => ((i + 0.5) * side) / across) as [number, number];
    const next = uniform(k + 1);
    for (let attempt = 0; attempt < 2000; attempt += 1) {
      const range = 0.003 * attempt;
      const azimuth = 2 * Math.PI * next();
      const [x, y] = [x0 + range * Math.cos(azimuth), y0 + range * Math.sin(azimuth)];
      if (free(x, y)) return [x, y, ground(x, y) + TRIPOD_M];
    }
    throw new Error(`no room for a scanner at ${x0}, ${y0}`);
  });
}

/** Returns of one scan, as the scanner gives them. */
export interface Scan {
  readonly xyz: Float64Array;
  /** 0 = ground. */
  readonly tree: Uint32Array;
  /** Of the tree; NO_CYLINDER for leaves and ground. */
  readonly cylinder: Uint32Array;
  /** Codes of SCANNED. */
  readonly organ: Uint8Array;
}

const preset = JSON.parse(readFileSync(join(root, "resources", "scanners", `${SCANNER}.json`), "utf8")).scanner as {
  readonly step_deg: number;
  readonly theta_min_deg: number;
  readonly theta_max_deg: number;
};

/** Degrees between beams. */
export const stepOf = (every: number): number => every * preset.step_deg;

/** The pattern of the scanner at a place, with one beam in `every` rows and columns. */
export function rasterAt(origin: Vector, index: number, every: number) {
  const step = stepOf(every);
  const { step_deg, ...settings } = preset;
  const n_phi = Math.floor(360 / step);
  return {
    ...settings,
    id: String(index),
    origin: [...origin] as [number, number, number],
    n_theta: Math.floor((settings.theta_max_deg - settings.theta_min_deg) / step) + 1,
    n_phi,
    phi_min_deg: 0,
    phi_max_deg: 360 - 360 / n_phi,
  };
}

/** One exact ray per pulse: every return belongs to one tree and one cylinder. */
export async function scan(scene: Scene, origin: Vector, index: number, every: number, job: Job): Promise<Scan> {
  const raster = rasterAt(origin, index, every);
  const request = LidarScanRequest.parse({ meshes: [], scanners: [raster], rays_per_pulse: 1, seed: index + 1 });
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], index, request, job);
  const found = await job.track(() => native.syntheticScan(scene.scene, params));
  if (!found.color || !found.organ) throw new Error("the scan has no colours or no organs");
  const code = values(found.color);
  const organ = values(found.organ);
  const count = organ.length;
  const part = (i: number, k: number) => Number(code[3 * i + k]);
  const out = {
    xyz: coordinatesOf(found.positions),
    tree: Uint32Array.from({ length: count }, (_, i) => part(i, 0)),
    cylinder: Uint32Array.from({ length: count }, (_, i) => 65536 * part(i, 1) + part(i, 2)),
    organ: Uint8Array.from(organ as Uint8Array),
  };
  for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  for (let i = 0; i < count; i += 1)
    if ((out.organ[i] === SCANNED.wood) !== (out.cylinder[i] !== NO_CYLINDER)) throw new Error("a code was mixed");
  return out;
}
