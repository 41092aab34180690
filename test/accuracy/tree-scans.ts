// Labelled scans of single trees: of the generated forests and of our own species, whose wood is known cylinder by cylinder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { root } from "../bench/folders.ts";
import { ORGAN } from "./forest/stand.ts";
import { NO_CYLINDER, NO_SURFACE, SCANNED } from "./forest/surface.ts";
import { coordinatesOf, values } from "./native.ts";
import type { TreeCylinder } from "./own-tree.ts";
import { gaussian, uniform } from "./random.ts";
import { type Shape, type TreeScanOptions, treeShape } from "./tree-shapes.ts";
import type { Vector } from "./vector.ts";

export type { TreeCylinder } from "./own-tree.ts";
export { FOREST_SPECIES, forestPlan, OWN_TREES, type TreeScanOptions } from "./tree-shapes.ts";

export interface TreeScan {
  /** x, y, z after each other, metres; the tree stands at (0, 0, 0) or near it. */
  readonly xyz: Float64Array;
  /** ORGAN.wood (internodes) or ORGAN.leaf (all else). */
  readonly organ: Uint8Array;
  /** In `cylinders`; NO_CYLINDER for leaves. */
  readonly cylinder: Uint32Array;
  /** Number of the scanner. */
  readonly scan: Uint8Array;
  /** Of a wood that reflects more than leaves, with noise; arbitrary unit. */
  readonly reflectance: Float32Array;
  readonly cylinders: readonly TreeCylinder[];
  readonly scanners: readonly Vector[];
  /** Surface of the tree: leaf triangles included. */
  readonly triangle_count: number;
}

interface Preset {
  readonly step_deg: number;
  readonly theta_min_deg: number;
  readonly theta_max_deg: number;
}
const presetOf = (name: string): Preset =>
  JSON.parse(readFileSync(join(root, "resources", "scanners", `${name}.json`), "utf8")).scanner;

/** Tripods around the tree, outside of it, the farther the taller it is. */
function places({ min, max }: Shape, positions: number, seed: number): Vector[] {
  const next = uniform(seed * 977 + positions);
  const [height, reach] = [max[2], Math.max(-min[0], -min[1], max[0], max[1])];
  const turn = 2 * Math.PI * next();
  return Array.from({ length: positions }, (_, k): Vector => {
    const range = Math.max(1.5, reach + 0.5) + (0.15 + 0.5 * next()) * height;
    const azimuth = turn + (2 * Math.PI * (k + 0.3 * next())) / positions;
    return [range * Math.cos(azimuth), range * Math.sin(azimuth), 1.6];
  });
}

/** The directions from a place in which the tree lies, degrees: zenith angles and bearings clockwise from +y. */
function windowOf({ min, max }: Shape, from: Vector) {
  const middle = Math.atan2((min[0] + max[0]) / 2 - from[0], (min[1] + max[1]) / 2 - from[1]);
  let [low, high, left, right] = [180, 0, 0, 0];
  for (let k = 0; k < 8; k += 1) {
    const corner = [0, 1, 2].map((i) => ((k >> i) & 1 ? max : min)[i] ?? 0);
    const d = corner.map((value, i) => value - (from[i] ?? 0)) as [number, number, number];
    const theta = (Math.acos(d[2] / Math.hypot(...d)) * 180) / Math.PI;
    const around = Math.atan2(d[0], d[1]) - middle;
    const phi = (Math.atan2(Math.sin(around), Math.cos(around)) * 180) / Math.PI;
    [low, high] = [Math.min(low, theta), Math.max(high, theta)];
    [left, right] = [Math.min(left, phi), Math.max(right, phi)];
  }
  // Below the tops of crowns that lean over the scanner the zenith angle of no corner is the least one.
  const near = Math.max(min[0] - from[0], from[0] - max[0], min[1] - from[1], from[1] - max[1], 0.2);
  low = Math.min(low, (Math.atan2(near, Math.max(0.01, max[2] - from[2])) * 180) / Math.PI);
  const bearing = (((middle * 180) / Math.PI + 360) % 360) as number;
  return { low, high: Math.min(180, high), first: bearing + left, last: bearing + right };
}

interface Returns {
  readonly xyz: Float64Array;
  readonly organ: Uint8Array;
  readonly cylinder: Uint32Array;
}

async function returnsOf(
  scene: native.NativeScanScene,
  shape: Shape,
  options: TreeScanOptions,
  k: number,
  from: Vector,
  job: Job,
): Promise<Returns> {
  const { step_deg, ...preset } = presetOf(options.scanner);
  const step = step_deg * options.every;
  const { low, high, first, last } = windowOf(shape, from);
  const [theta_min_deg, theta_max_deg] = [Math.max(preset.theta_min_deg, low), Math.min(preset.theta_max_deg, high)];
  const raster = {
    ...preset,
    id: String(k),
    origin: [...from] as [number, number, number],
    n_theta: Math.max(2, Math.floor((theta_max_deg - theta_min_deg) / step) + 1),
    n_phi: Math.max(2, Math.floor((last - first) / step) + 1),
    theta_min_deg,
    theta_max_deg,
    phi_min_deg: first,
    phi_max_deg: last,
    return_mode: "single" as const,
    ...(options.range_noise_m === undefined ? {} : { range_noise_m: options.range_noise_m }),
  };
  const request = LidarScanRequest.parse({
    meshes: [],
    scanners: [raster],
    rays_per_pulse: 1,
    seed: options.seed * 64 + k + 1,
  });
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], k, request, job);
  const found = await job.track(() => native.syntheticScan(scene, params));
  if (!found.color || !found.organ) throw new Error("the scan has no colours or no organs");
  const [code, organ] = [values(found.color), values(found.organ)];
  const out = {
    xyz: coordinatesOf(found.positions),
    organ: Uint8Array.from(organ as Uint8Array, (one) => (one === SCANNED.wood ? ORGAN.wood : ORGAN.leaf)),
    cylinder: Uint32Array.from(
      { length: organ.length },
      (_, i) => 65536 * Number(code[3 * i + 1]) + Number(code[3 * i + 2]),
    ),
  };
  for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  for (const [i, one] of out.organ.entries())
    if ((one === ORGAN.wood) !== (out.cylinder[i] !== NO_CYLINDER)) throw new Error("a code was mixed");
  return out;
}

/** Wood reflects more than leaves by less than both vary, and less at the edge of the beam: a hint, no answer. */
function reflectanceOf(organ: Uint8Array, seed: number): Float32Array {
  const next = uniform(seed * 53 + 29);
  const [contrast, spread] = [0.3 + 1.2 * next(), 0.6 + 0.5 * next()];
  return Float32Array.from(
    organ,
    (one) => (one === ORGAN.wood ? contrast : 0) + spread * gaussian(next) - 2 * next() ** 6,
  );
}

/** Scans a tree; the same options give the same points, bit for bit. */
export async function scanTree(options: TreeScanOptions): Promise<TreeScan> {
  const job = new Job();
  const shape = await treeShape(options);
  const opened = await job.track(() =>
    native.openScanScene([{ ...shape.mesh, prototypes: shape.mesh.prototypes ?? NO_SURFACE }], []),
  );
  const scanners = places(shape, options.positions, options.seed);
  const scans: Returns[] = [];
  for (const [k, from] of scanners.entries()) scans.push(await returnsOf(opened.scene, shape, options, k, from, job));
  opened.scene.release();
  const joined = <A extends Float64Array | Uint8Array | Uint32Array>(empty: A, of: (one: Returns) => A): A => {
    let at = 0;
    for (const one of scans) {
      empty.set(of(one), at);
      at += of(one).length;
    }
    return empty;
  };
  const count = scans.reduce((sum, one) => sum + one.organ.length, 0);
  const organ = joined(new Uint8Array(count), (one) => one.organ);
  return {
    xyz: joined(new Float64Array(3 * count), (one) => one.xyz),
    organ,
    cylinder: joined(new Uint32Array(count), (one) => one.cylinder),
    scan: Uint8Array.from(scans.flatMap((one, k) => new Array<number>(one.organ.length).fill(k))),
    reflectance: reflectanceOf(organ, options.seed),
    cylinders: shape.cylinders,
    scanners,
    triangle_count: opened.triangle_count,
  };
}
