// Hits that were taken out of scans of generated stands by scanners that move: told by misses that go through surfaces.
import { Job } from "../../backend/jobs/job.ts";
import { lostHitsMoving } from "../../backend/native/lad.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import type { StandKind } from "./forest/layout.ts";
import { buildScene, type Scene } from "./forest/scene.ts";
import { column, coordinatesOf, positions, values } from "./native.ts";
import type { Part } from "./part.ts";
import { gaussian, uniform } from "./random.ts";

const SIDE_M = 30;
const PULSES = 6e6;
const GROUPS = ["apart", "interlocked", "understorey", "slope", "rows"] as const;
const CHANNELS = 32;

/** How a scanner is carried: its height above the ground, its lanes, its speed, and half of its field of view. */
interface Carrier {
  readonly height_m: number;
  readonly lane_m: number;
  /** Beyond the stand, metres. */
  readonly margin_m: number;
  readonly speed: number;
  readonly half_deg: number;
  /** From body to world; the scanner turns about its z. */
  attitude(pose: number): readonly [number, number, number, number];
}
const [SIN, COS] = [Math.SQRT1_2, Math.SQRT1_2];
const CARRIERS = {
  drone: { height_m: 60, lane_m: 20, margin_m: 20, speed: 5, half_deg: 35, attitude: () => [0, SIN, 0, COS] },
  hand: {
    height_m: 1.6,
    lane_m: 10,
    margin_m: -1,
    speed: 1,
    half_deg: 40,
    attitude: (pose) => {
      const [half, tilt] = [(Math.PI * 5 * pose) / 180, Math.PI / 8];
      const [s, c, u, v] = [Math.sin(half), Math.cos(half), Math.sin(tilt), Math.cos(tilt)];
      return [c * u, s * u, s * v, c * v];
    },
  },
} as const satisfies Readonly<Record<string, Carrier>>;

/** Lanes along x, every second one backwards; a scanner that is carried keeps clear of stems. */
function posesOf(scene: Scene, { height_m, lane_m, margin_m, speed, attitude }: Carrier) {
  const long = SIDE_M + 2 * margin_m;
  const lanes = Math.max(1, Math.floor(long / lane_m));
  const steps = Math.ceil(2 * long);
  const free = (x: number, y: number) =>
    height_m > 30 ||
    scene.plans.every(
      (plan) =>
        Math.hypot(plan.x - x, plan.y - y) >
        (plan.crown_base_m < 2 ? plan.crown_radius_m + 0.5 : plan.diameter_m / 2 + 0.4),
    );
  const inside = (value: number) => Math.min(SIDE_M, Math.max(0, value));
  return Array.from({ length: lanes * (steps + 1) }, (_, k) => {
    const [lane, i] = [Math.floor(k / (steps + 1)), k % (steps + 1)];
    const x = -margin_m + (long * (lane % 2 === 0 ? i : steps - i)) / steps;
    const middle = -margin_m + ((lane + 0.5) * long) / lanes;
    const aside = Array.from({ length: 40 }, (_, d) => (d % 2 === 0 ? -0.15 : 0.15) * Math.ceil(d / 2));
    const y = middle + (aside.find((off) => free(x, middle + off)) ?? 0);
    const below = height_m > 30 ? scene.ground(SIDE_M / 2, SIDE_M / 2) : scene.ground(inside(x), inside(y));
    const [qx, qy, qz, qw] = attitude(i);
    return { t: (k * long) / steps / speed + 2 * lane, x, y, z: below + height_m, qx, qy, qz, qw };
  });
}

async function scanned(scene: Scene, carrier: Carrier, job: Job) {
  const poses = posesOf(scene, carrier);
  const pulse_rate_hz = PULSES / (poses.at(-1)?.t ?? 1);
  const { half_deg } = carrier;
  const scanner = {
    ...{ id: "m", origin: [0, 0, 0], scan_pattern: "spinning_multibeam", n_theta: CHANNELS, pulse_rate_hz },
    beam_elevation_angles_deg: Array.from({ length: CHANNELS }, (_, i) => half_deg * ((2 * i) / (CHANNELS - 1) - 1)),
    n_phi: Math.max(200, Math.round(pulse_rate_hz / CHANNELS / 10)),
    ...{ theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360, range_noise_m: 0.01 },
    trajectory: { poses },
  };
  const wanted = { meshes: [], scanners: [scanner], rays_per_pulse: 1, record_misses: true };
  const request = LidarScanRequest.parse(wanted);
  const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], 0, request, job);
  const found = await job.quiet().track(() => native.syntheticScan(scene.scene, params));
  if (!found.is_miss || !found.beam_origin) throw new Error("the scan has no misses or no beam origins");
  const out = {
    xyz: coordinatesOf(found.positions),
    origins: coordinatesOf(found.beam_origin),
    is_miss: values(found.is_miss),
  };
  for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  return out;
}
type Scanned = Awaited<ReturnType<typeof scanned>>;

/** Which hits are left, and with which noise in all directions, metres. */
const LEFT = {
  all: { share: 1, cube_m: 0, noise_m: 0 },
  "all, 3 cm of noise": { share: 1, cube_m: 0, noise_m: 0.03 },
  "19 of 20": { share: 0.95, cube_m: 0, noise_m: 0 },
  "9 of 10": { share: 0.9, cube_m: 0, noise_m: 0 },
  "1 of 2": { share: 0.5, cube_m: 0, noise_m: 0 },
  "one per 5 cm": { share: 1, cube_m: 0.05, noise_m: 0 },
  "one per 20 cm": { share: 1, cube_m: 0.2, noise_m: 0 },
} as const;

/** `lost` is the share of the hits that were taken out. */
function thinned({ xyz, is_miss, origins }: Scanned, { share, cube_m, noise_m }: (typeof LEFT)[keyof typeof LEFT]) {
  const next = uniform(7);
  const taken = new Set<string>();
  const [at, miss] = [Float64Array.from(xyz), Uint8Array.from(is_miss, Number)];
  let [hits, lost] = [0, 0];
  for (let i = 0; i < miss.length; i += 1) {
    if (miss[i] !== 0) continue;
    hits += 1;
    const place = at.subarray(3 * i, 3 * i + 3);
    const cube = cube_m > 0 ? place.map((value) => Math.floor(value / cube_m)).join(",") : "";
    const out = next() > share || (cube_m > 0 && taken.has(cube));
    if (cube_m > 0) taken.add(cube);
    if (out) {
      // It looks like a pulse without a return.
      const from = origins.subarray(3 * i, 3 * i + 3);
      const far = 1001 / Math.hypot(...place.map((value, k) => value - (from[k] ?? 0)));
      for (let k = 0; k < 3; k += 1) place[k] = (from[k] ?? 0) + far * ((place[k] ?? 0) - (from[k] ?? 0));
      miss[i] = 1;
      lost += 1;
    } else if (noise_m > 0) for (let k = 0; k < 3; k += 1) place[k] = (place[k] ?? 0) + noise_m * gaussian(next);
  }
  return { at, miss, lost: lost / hits };
}

export interface LostHitsRow {
  readonly stand: StandKind;
  readonly carrier: string;
  readonly left: string;
  /** Of the hits. */
  readonly lost: number;
  /** Of the beams amid hits of one surface. */
  readonly found: number;
  /** Of the beams that reach the box of the hits. */
  readonly amid: number;
}

async function measure(methods: readonly string[], groups: readonly string[]): Promise<LostHitsRow[]> {
  const rows: LostHitsRow[] = [];
  for (const stand of groups as readonly StandKind[]) {
    const job = new Job();
    const scene = await buildScene(stand, 1, SIDE_M, job);
    for (const carrier of methods as readonly (keyof typeof CARRIERS)[]) {
      const scan = await scanned(scene, CARRIERS[carrier], job);
      for (const [left, rule] of Object.entries(LEFT)) {
        const { at, miss, lost } = thinned(scan, rule);
        const columns = { positions: positions(at), origins: positions(scan.origins), is_miss: column("u8", miss) };
        const part = { ...columns, shift: [0, 0, 0] as const, deleted: null, timestamps: null, target_index: null };
        const told = await lostHitsMoving([part]).promise;
        for (const one of Object.values(columns)) one.release();
        const row = { stand, carrier, left, lost };
        rows.push({ ...row, found: told.lost / told.between, amid: told.between / told.looked_at });
      }
    }
    scene.scene.release();
  }
  return rows;
}

/** Of lost-hits.ts of the service. */
const MOST_LOST = 0.04;

/** Part `lost-hits` of `npm run accuracy`. */
export const lostHitsPart: Part<LostHitsRow> = {
  methods: Object.keys(CARRIERS),
  groups: GROUPS,
  measure,
  tables: (rows) =>
    [
      "| stand | carried by | hits left | lost | found | beams amid hits |",
      "|---|---|---|---|---|---|",
      ...rows.map(
        ({ stand, carrier, left, lost, found, amid }) =>
          `| ${stand} | ${carrier} | ${left} | ${[lost, found, amid].map((share) => share.toFixed(3)).join(" | ")} |`,
      ),
    ].join("\n"),
  targets: (rows) => {
    const right = rows.filter(({ lost, found }) => found > MOST_LOST === lost > MOST_LOST);
    return `told where more than 4 % of the hits are lost, and nowhere else: ${right.length} of ${rows.length}, ${right.length === rows.length ? "reached" : "missed"}`;
  },
};
