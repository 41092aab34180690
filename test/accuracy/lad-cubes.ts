// Homogeneous cubes of leaves scanned by our own scanner: the leaf area density of scans of known leaves.
import type { z } from "zod";
import { Job } from "../../backend/jobs/job.ts";
import type { NativeColumn } from "../../backend/native/core/handles.ts";
import {
  type BeamScan,
  leafProjectionBins,
  meanHitCosine,
  meanLeafProjection,
  traceBeams,
} from "../../backend/native/lad.ts";
import { VOXEL } from "../../backend/native/lad-inversion.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { openScene } from "../../backend/services/lidar/scan-scene.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { beamG, invert } from "./lad-inversion.ts";
import { triangleG } from "./lad-triangles.ts";
import { type CubeCase, EDGE, gridOf, LEAF, leavesOf, type Triple, trueDensity } from "./leaf-cube.ts";
import { column, positions } from "./native.ts";

const SEEDS = 50;
const CUBE = {
  law: { law: "spherical" },
  density: 2,
  rotation: 0,
  rays: 1,
  moving: false,
  seen: "level",
  seeds: SEEDS,
} as const;
const BETA = { law: "beta", beta_mu: 1.5, beta_nu: 3 } as const;
/** Of the means and variances of de Wit's laws (Goel & Strebel 1984). */
const PLANOPHILE = { law: "beta", beta_mu: 2.77, beta_nu: 1.172 } as const;
const ERECTOPHILE = { law: "beta", beta_mu: 1.172, beta_nu: 2.77 } as const;
const BOTH = "level and from above" as const;
/** Triangles need pulses that are closer than leaves are wide; these scans are dense, so there are fewer. */
const DENSE = { ...CUBE, seeds: 3, own_g: true } as const;
export const CUBE_CASES: readonly CubeCase[] = [
  { ...CUBE, name: "leaves: spherical", own_g: false },
  { ...CUBE, name: "leaves: Beta 1.5 3", law: BETA, own_g: false },
  { ...CUBE, name: "leaves: LAD 6", density: 6, seeds: 10, own_g: false },
  { ...CUBE, name: "leaves: LAD 10", density: 10, seeds: 10, own_g: false },
  { ...CUBE, name: "leaves: turned by 30 degrees", rotation: 30, own_g: false },
  { ...CUBE, name: "leaves: moving scanner", moving: true, own_g: false },
  { ...CUBE, name: "leaves: spherical 30 rays", rays: 30, seeds: 10, own_g: false },
  { ...CUBE, name: "leaves: Beta 1.5 3 30 rays", law: BETA, rays: 30, seeds: 10, own_g: false },
  { ...DENSE, name: "leaves: spherical own G" },
  { ...DENSE, name: "leaves: Beta 1.5 3 own G", law: BETA },
  { ...DENSE, name: "leaves: spherical 30 rays own G", rays: 30, seeds: 1 },
  { ...CUBE, name: "leaves: Beta 1.5 3 from above", law: BETA, seen: "from above", seeds: 3, own_g: false },
  { ...CUBE, name: "leaves: planophile level and from above", law: PLANOPHILE, seen: BOTH, seeds: 3, own_g: false },
  { ...CUBE, name: "leaves: spherical by one below", seen: "by one below", seeds: 10, own_g: false },
  { ...CUBE, name: "leaves: LAD 0.5 by one below", density: 0.5, seen: "by one below", seeds: 10, own_g: false },
  {
    ...CUBE,
    name: "leaves: erectophile by one below",
    law: ERECTOPHILE,
    seen: "by one below",
    seeds: 10,
    own_g: false,
  },
  { ...DENSE, name: "leaves: planophile own G", law: PLANOPHILE },
  { ...DENSE, name: "leaves: planophile from below own G", law: PLANOPHILE, seen: "from below" },
  { ...DENSE, name: "leaves: planophile from above own G", law: PLANOPHILE, seen: "from above" },
  { ...DENSE, name: "leaves: planophile level and from above own G", law: PLANOPHILE, seen: BOTH },
  { ...DENSE, name: "leaves: spherical from below own G", seen: "from below" },
  { ...DENSE, name: "leaves: spherical from above own G", seen: "from above" },
  { ...DENSE, name: "leaves: spherical level and from above own G", seen: BOTH },
  { ...DENSE, name: "leaves: Beta 1.5 3 from above own G", law: BETA, seen: "from above" },
  { ...DENSE, name: "leaves: erectophile own G", law: ERECTOPHILE },
  { ...DENSE, name: "leaves: erectophile from above own G", law: ERECTOPHILE, seen: "from above" },
  { ...DENSE, name: "leaves: erectophile level and from above own G", law: ERECTOPHILE, seen: BOTH },
];

/** Distance of the scanners from the centre of the cube, metres. */
const AWAY = 6;
/** Short edges: longer ones join neighbouring leaves. */
const LIMITS = { lmax: 0.6 * LEAF, max_aspect_ratio: 4 };

export interface CubeRow {
  readonly name: string;
  readonly seeds: number;
  /** Mean of the total over the true one, percent; the largest deviation of a seed. */
  readonly bias: number;
  readonly worst: number;
  /** Intervals that hold the true density of their voxel, percent. */
  readonly coverage: number;
  readonly intervals: number;
  /** The same bias where all returns of a pulse count alike; null for one return per pulse. */
  readonly equal: number | null;
}

/** Two scanners above the cube, which see it within 25 degrees of the vertical. */
const fromAbove = () =>
  [-0.6, 0.6].map((x) => ({
    id: `${x}`,
    origin: [x, 0.4, AWAY] as Triple,
    n_theta: 420,
    theta_min_deg: 154.9,
    theta_max_deg: 180,
    n_phi: 2600,
    phi_min_deg: 0,
    phi_max_deg: 360,
    ...BEAM,
  }));

/** A scanner that looks up at the cube, at 30 to 62 degrees from the vertical. */
function fromBelow(k: number) {
  const bearing = ((90 * k + 200) * Math.PI) / 180;
  const origin: Triple = [
    AWAY * Math.SQRT1_2 * Math.sin(bearing),
    AWAY * Math.SQRT1_2 * Math.cos(bearing),
    -AWAY * Math.SQRT1_2,
  ];
  const to = 90 * k + 380;
  const sweep = { n_theta: 530, theta_min_deg: 30, theta_max_deg: 62, n_phi: 700 };
  return { id: `${k}`, origin, ...sweep, phi_min_deg: to - 21, phi_max_deg: to + 21, ...BEAM };
}

/** A scanner 1.2 m below the cube. */
const rightBelow = () => [
  {
    id: "0",
    origin: [0.1, 0.07, -2.2] as Triple,
    n_theta: 900,
    theta_min_deg: 0,
    theta_max_deg: 60,
    n_phi: 2400,
    phi_min_deg: 0,
    phi_max_deg: 360,
    ...BEAM,
  },
];

const BEAM = { exit_diameter_m: 0.005, beam_divergence_mrad: 0.3 };

/** Scanners as the case has them, or one that is carried around the cube along a square. */
function scannersOf({ moving, own_g, seen }: CubeCase) {
  if (seen === "from above") return fromAbove();
  if (seen === "by one below") return rightBelow();
  const half = (Math.atan2(EDGE * 0.95, AWAY - EDGE / 2) * 180) / Math.PI;
  const step = own_g ? 0.06 : 0.25;
  const n = Math.round((2 * half) / step);
  const sweep = { n_theta: n, theta_min_deg: 90 - half, theta_max_deg: 90 + half };
  if (moving) {
    const places = [0, 1, 2, 3].flatMap((k) => [0, 1].map((end) => [AWAY, end * 4 - 2, k] as const));
    const poses = places.map(([away, along, k], t) => {
      const turn = (Math.PI / 2) * k;
      const [x, y] = [away * Math.cos(turn) - along * Math.sin(turn), away * Math.sin(turn) + along * Math.cos(turn)];
      return { t, x, y, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 };
    });
    return [
      {
        id: "m",
        origin: [0, 0, 0] as Triple,
        ...sweep,
        n_phi: 360,
        phi_min_deg: 0,
        phi_max_deg: 360,
        ...BEAM,
        trajectory: { poses },
        pulse_rate_hz: 100_000,
      },
    ];
  }
  if (seen === "from below") return [0, 1, 2, 3].map(fromBelow);
  const level = seen === "level" ? [0, 1, 2, 3] : [0, 2];
  const beside = level.map((k) => {
    const bearing = 90 * k + 200;
    const [x, y] = [Math.sin((bearing * Math.PI) / 180), Math.cos((bearing * Math.PI) / 180)];
    const to = bearing + 180;
    const origin: Triple = [-AWAY * -x, -AWAY * -y, 0.3];
    return { id: `${k}`, origin, ...sweep, n_phi: n, phi_min_deg: to - half, phi_max_deg: to + half, ...BEAM };
  });
  return seen === "level" ? beside : [...beside, ...fromAbove()];
}

interface CubeScan extends BeamScan {
  readonly intensity: NativeColumn;
}

async function scansOf(one: CubeCase, leaves: ReturnType<typeof leavesOf>, seed: number): Promise<CubeScan[]> {
  const job = new Job();
  const scanners = scannersOf(one).map((scanner) => ({
    ...scanner,
    return_mode: one.rays > 1 ? ("multi" as const) : ("single" as const),
    max_returns: 10,
  }));
  const request = LidarScanRequest.parse({
    meshes: [leaves],
    scanners,
    rays_per_pulse: one.rays,
    pulse_distance_threshold: 0.02,
    record_misses: true,
    seed,
  } satisfies z.input<typeof LidarScanRequest>);
  const { scene } = await openScene(request.meshes, job);
  const scans: CubeScan[] = [];
  for (const [k, scanner] of request.scanners.entries()) {
    const found = await job.quiet().track(() => native.syntheticScan(scene, scanParams(scanner, k, request, job)));
    const multi = one.rays > 1;
    scans.push({
      positions: found.positions,
      origins: found.beam_origin ?? positions(Float64Array.from(scanner.origin)),
      shift: [0, 0, 0],
      is_miss: found.is_miss,
      deleted: null,
      timestamps: multi ? found.time : null,
      target_index: multi ? found.target_index : null,
      intensity: found.intensity,
    });
  }
  scene.release();
  return scans;
}

interface SeedResult {
  readonly total: number;
  readonly equal: number | null;
  readonly intervals: number;
  readonly covered: number;
}

async function measuredSeed(one: CubeCase, seed: number): Promise<SeedResult> {
  const leaves = leavesOf(one, seed);
  const scans = await scansOf(one, leaves, seed);
  const grid = gridOf(one);
  const truth = trueDensity(leaves, grid);
  const whole = truth.reduce((sum, value) => sum + value, 0);
  const { zenith_count } = await traceBeams(scans, { ...grid, nx: 1, ny: 1, nz: 1 }, null).promise;
  const triangles = one.own_g ? await triangleG(scans, one.rays > 1, grid, LIMITS) : null;
  const g = triangles?.g ?? column("f64", Float64Array.of(await meanLeafProjection(one.law, zenith_count).promise));
  const cosine = triangles?.hit_cosine ?? (await meanHitCosine(one.law, zenith_count).promise);
  const shared = scans.map((scan) => ({
    ...scan,
    shares: one.rays > 1 ? { intensity: scan.intensity, scale: 1 / cosine, offset: 0, partial_misses: false } : null,
  }));
  const each = !one.own_g && one.seen === BOTH;
  const beams = each ? beamG(await leafProjectionBins(one.law).promise) : null;
  const mean_g = triangles?.mean_g ?? (await meanLeafProjection(one.law, zenith_count).promise);
  const options = { leaf_m: LEAF, own: triangles, spread: cosine / mean_g - 1 };
  const found = await invert(shared, grid, g, { ...options, beams });
  const share = ({ lad }: { lad: ArrayLike<number> }) => Array.from(lad).reduce((sum, value) => sum + value, 0) / whole;
  const equal = one.rays > 1 ? share(await invert(scans, grid, g, options)) : null;
  let [intervals, covered] = [0, 0];
  for (let v = 0; v < found.lad.length; v += 1) {
    if (((found.state[v] ?? 0) & VOXEL.trusted) === 0) continue;
    intervals += 1;
    const density = found.lad[v] ?? 0;
    if (Math.abs(density - (truth[v] ?? 0)) <= 1.96 * (found.error[v] ?? Number.NaN)) covered += 1;
  }
  for (const scan of scans)
    for (const held of [scan.positions, scan.is_miss, scan.intensity, scan.timestamps]) held?.release();
  return { total: share(found), equal, intervals, covered };
}

/** Scans a cube of leaves with each seed and inverts the scans. */
export async function cubeRow(one: CubeCase): Promise<CubeRow> {
  const seeds: SeedResult[] = [];
  for (let seed = 1; seed <= one.seeds; seed += 1) seeds.push(await measuredSeed(one, seed));
  const mean = (of: (result: SeedResult) => number) =>
    seeds.reduce((sum, result) => sum + of(result), 0) / seeds.length;
  const intervals = mean((result) => result.intervals);
  return {
    name: one.name,
    seeds: seeds.length,
    bias: 100 * (mean(({ total }) => total) - 1),
    worst: 100 * Math.max(...seeds.map(({ total }) => Math.abs(total - 1))),
    coverage: (100 * mean((result) => result.covered)) / intervals,
    intervals: intervals * seeds.length,
    equal: one.rays > 1 ? 100 * (mean(({ equal }) => equal ?? Number.NaN) - 1) : null,
  };
}
