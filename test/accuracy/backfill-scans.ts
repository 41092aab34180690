// Scans of our own scanner with its misses, which are taken away and recovered.
import { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/misses.ts";
import { syntheticScan } from "../../backend/native/ray.ts";
import { declaredScan } from "../../backend/services/lad/backfill-check.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { openScene } from "../../backend/services/lidar/scan-scene.ts";
import { BackfillMissesRequest } from "../../shared/contract/cloud-session/backfill-misses.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import { MOVING_SCANNER } from "../support/scans/moving-scanner.ts";
import type { Triple } from "./backfill-rasters.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";

const square = (a: Triple, b: Triple, c: Triple, d: Triple) => ({
  vertices: [a, b, c, d],
  triangles: [
    [0, 1, 2],
    [0, 2, 3],
  ],
});
const floor = (x: number, half: number) =>
  square([x - half, -30, -1.5], [x + half, -30, -1.5], [x + half, 30, -1.5], [x - half, 30, -1.5]);
const wall = (y: number, half: number) =>
  square([-half, y, -half], [half, y, -half], [half, y, half], [-half, y, half]);
/** A floor 1.5 m below the scanner, 60 m wide, with gaps, and two walls; the rest is sky. */
const MESHES = [floor(-20, 12), floor(0, 7), floor(20, 12), wall(5, 1.2), wall(-8, 2)];

const RASTER = { id: "a", origin: [0, 0, 0], n_theta: 200, n_phi: 360, pulse_rate_hz: 1e5 };
const SWEEP = { theta_min_deg: 30, theta_max_deg: 130, phi_min_deg: 0, phi_max_deg: 357 };
const NOISE = { range_noise_m: 0.01, angle_noise_mrad: 0.2 };

interface OwnScan {
  readonly scanner: object;
  readonly request?: object;
  /** Angle between neighbouring rows. */
  readonly step_deg: number;
}

/** Scans by name. */
export const OWN_SCANS: Readonly<Record<string, OwnScan>> = {
  "own raster": { scanner: {}, step_deg: 100 / 199 },
  "own raster, tilted, several returns, noise": {
    scanner: { return_mode: "multi", beam_divergence_mrad: 1, tilt_roll_deg: 3, tilt_pitch_deg: -2, ...NOISE },
    request: { rays_per_pulse: 20 },
    step_deg: 100 / 199,
  },
  "own multibeam, moving": {
    scanner: {
      scan_pattern: "spinning_multibeam",
      beam_elevation_angles_deg: Array.from({ length: 32 }, (_, i) => -30.67 + 1.33 * i),
      n_phi: 360,
      pulse_rate_hz: 32 * 360 * 5,
      trajectory: MOVING_SCANNER,
    },
    step_deg: 1.33,
  },
  "own raster, moving": {
    scanner: { n_phi: 360, pulse_rate_hz: 200 * 360, trajectory: MOVING_SCANNER },
    step_deg: 100 / 199,
  },
  "own raster, moving, noise": {
    scanner: { n_phi: 360, pulse_rate_hz: 200 * 360, trajectory: MOVING_SCANNER, ...NOISE },
    step_deg: 100 / 199,
  },
};

async function scanned({ scanner, request: fields = {} }: OwnScan, job: Job) {
  const scanners = [{ ...RASTER, ...SWEEP, ...scanner }];
  const request = LidarScanRequest.parse({
    meshes: MESHES,
    scanners,
    record_misses: true,
    rays_per_pulse: 1,
    ...fields,
  });
  const { scene } = await openScene(request.meshes, job);
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], 0, request, job);
  const scan = await job.track(() => syntheticScan(scene, params));
  const origins = scan.beam_origin && coordinatesOf(scan.beam_origin);
  return {
    params,
    xyz: coordinatesOf(scan.positions),
    is_miss: values(scan.is_miss),
    times: values(scan.time) as Float64Array,
    origin: (i: number): Triple => (origins ? triple(origins, i) : [0, 0, 0]),
  };
}

const triple = (flat: Float64Array, i: number): Triple => [
  flat[3 * i] ?? Number.NaN,
  flat[3 * i + 1] ?? Number.NaN,
  flat[3 * i + 2] ?? Number.NaN,
];
const minus = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];

type Scanned = Awaited<ReturnType<typeof scanned>>;

/** The returns alone, as a route gets them. */
async function rowsOf(scan: Scanned, pulse: (time: number) => number, route: native.MissRoute) {
  const kept = [...scan.is_miss.keys()].filter((i) => !scan.is_miss[i]);
  const times = column(
    "f64",
    Float64Array.from(kept, (i) => scan.times[i] ?? Number.NaN),
  );
  const { trajectory, pattern } = scan.params;
  const world = positions(Float64Array.from(kept.flatMap((i) => triple(scan.xyz, i))));
  const moving = trajectory && { ...trajectory };
  const seen = moving ? await native.toScannerFrame(world, times, moving).promise : world;
  const cells = kept.map((i) => pulse(scan.times[i] ?? Number.NaN));
  const rows = {
    positions: seen,
    skip: null,
    times: route === "clock" || moving ? times : null,
    row_index: column(
      "i32",
      Int32Array.from(cells, (cell) => cell % pattern.row_count),
    ),
    column_index: column(
      "i32",
      Int32Array.from(cells, (cell) => Math.floor(cell / pattern.row_count)),
    ),
  };
  return { rows, moving, returns: kept.length };
}

/** The misses that a route recovers from the returns of one of our scans. */
export async function ownScan(name: string, route: native.MissRoute) {
  const own = OWN_SCANS[name];
  if (!own) throw new Error(`no scan ${name}`);
  const job = new Job();
  const scan = await scanned(own, job);
  const { first_time_s, pulse_interval_s, pattern } = scan.params;
  const pulse = (time: number) => Math.round((time - first_time_s) / pulse_interval_s);
  const known = new Map<number, Triple>();
  for (const [i, miss] of scan.is_miss.entries())
    if (miss) known.set(pulse(scan.times[i] ?? Number.NaN), minus(triple(scan.xyz, i), scan.origin(i)));
  const { rows, moving, returns } = await rowsOf(scan, pulse, route);
  const { tilt_roll_deg = 0, tilt_pitch_deg = 0 } = own.scanner as Readonly<Record<string, number>>;
  const still = { tilt_roll_deg, tilt_pitch_deg, n_theta: RASTER.n_theta, n_phi: RASTER.n_phi };
  const settings = { theta_min: 30, theta_max: 130, phi_min: 0, phi_max: 357, ...(moving ? {} : still) };
  const turns = "beam_elevation_angles_deg" in own.scanner ? { theta_min: 0, theta_max: 180 } : {};
  const request = BackfillMissesRequest.parse({ origin: [0, 0, 0], ...settings, ...turns });
  const declared = declaredScan(request, [0, 0, 0]);
  const asked = route === "declared" ? declared : { ...declared, rows: 0, columns: 0 };
  const got = await native.recoverMisses(rows, { route, scan: asked, max_cells: 1e8, moved: moving !== null }).promise;
  const beams = moving && got.times ? await native.fromScannerFrame(got.positions, got.times, moving).promise : null;
  const at = coordinatesOf(beams?.positions ?? got.positions);
  const from = beams && coordinatesOf(beams.origins);
  const [row, col] = [values(got.row_index), values(got.column_index)];
  const times = got.times && (values(got.times) as Float64Array);
  const found = new Map<number, Triple>();
  for (const i of row.keys()) {
    const cell = Number(row[i]) + pattern.row_count * Number(col[i]);
    const number = times ? pulse(times[i] ?? Number.NaN) : cell;
    found.set(number, minus(triple(at, i), from ? triple(from, i) : [0, 0, 0]));
  }
  return { found, known, returns, step_rad: (own.step_deg * Math.PI) / 180 };
}
