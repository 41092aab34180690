// A generated stand scanned from an aircraft: parallel strips, several returns per pulse.
import type { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import type { Scene } from "./forest/scene.ts";
import { coordinatesOf } from "./native.ts";

/** From where, how fast and how densely a scanner looks down. */
interface Flight {
  readonly height_m: number;
  readonly speed: number;
  /** Distances of the lines from the middle, metres. */
  readonly lines_m: readonly number[];
  /** Whether the same lines are flown along y, too. */
  readonly crossed: boolean;
  readonly pulse_m: number;
  readonly rays: number;
  readonly noise_m: number;
}
/** Bearings up to 19 degrees from the vertical. */
const AIRCRAFT: Flight = {
  ...{ height_m: 500, speed: 60, lines_m: [-175, 0, 175], crossed: false },
  ...{ pulse_m: 0.8, rays: 30, noise_m: 0.015 },
};
/** Footprints of 3 cm; in two directions, as for stems. */
const DRONE: Flight = {
  ...{ height_m: 60, speed: 5, lines_m: [-30, -10, 10, 30], crossed: true },
  ...{ pulse_m: 0.4, rays: 15, noise_m: 0.01 },
};
/** Around the stand. */
const MARGIN_M = 10;
const KEPT_MARGIN_M = 5;
/** Footprints of 25 cm from 500 m; surfaces closer than `pulse_m` are one return. */
const DIVERGENCE_MRAD = 0.5;
/** From body to world, along +x and along +y: the scanner turns about its z. */
const ALONG_X = { qx: 0, qy: Math.SQRT1_2, qz: 0, qw: Math.SQRT1_2 };
const ALONG_Y = { qx: -0.5, qy: 0.5, qz: 0.5, qw: 0.5 };

interface Line {
  readonly across_m: number;
  readonly along_y: boolean;
}
const linesOf = ({ lines_m, crossed }: Flight): Line[] =>
  (crossed ? [false, true] : [false]).flatMap((along_y) => lines_m.map((across_m) => ({ across_m, along_y })));

function stripOf(scene: Scene, side: number, { across_m, along_y }: Line, flight: Flight, pulses_per_m2: number) {
  const { height_m, speed, noise_m } = flight;
  const long = side + 2 * MARGIN_M;
  const step = Math.sqrt(linesOf(flight).length / pulses_per_m2);
  const slant = Math.hypot(height_m, across_m);
  // Equal steps along and across the ground.
  const n_phi = Math.round((2 * Math.PI * slant * slant) / height_m / step);
  const t = long / speed;
  const z = scene.ground(side / 2, side / 2) + height_m;
  const poses = [0, 1].map((end) => {
    const [along, across] = [-MARGIN_M + end * long, side / 2 + across_m];
    const place = along_y ? { x: across, y: along } : { x: along, y: across };
    return { t: end * t, ...place, z, ...(along_y ? ALONG_Y : ALONG_X) };
  });
  return {
    ...{ id: "m", origin: [0, 0, 0], scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: [0], n_theta: 1 },
    ...{ n_phi, theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360, trajectory: { poses } },
    ...{ pulse_rate_hz: (n_phi * long) / step / t, return_mode: "multi", max_returns: 5 },
    ...{ range_noise_m: noise_m, beam_divergence_mrad: DIVERGENCE_MRAD },
  };
}

async function scanned(scene: Scene, side: number, flight: Flight, pulses_per_m2: number, job: Job) {
  const kept: number[] = [];
  for (const [index, line] of linesOf(flight).entries()) {
    const request = LidarScanRequest.parse({
      meshes: [],
      scanners: [stripOf(scene, side, line, flight, pulses_per_m2)],
      pulse_distance_threshold: flight.pulse_m,
      rays_per_pulse: flight.rays,
      seed: index + 1,
    });
    const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], 0, request, job);
    const found = await job.quiet().track(() => native.syntheticScan(scene.scene, params));
    const xyz = coordinatesOf(found.positions);
    for (let i = 0; i < xyz.length; i += 3) {
      const place = [xyz[i] ?? 0, xyz[i + 1] ?? 0];
      if (place.every((at) => at >= -KEPT_MARGIN_M && at <= side + KEPT_MARGIN_M)) kept.push(...place, xyz[i + 2] ?? 0);
    }
    for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  }
  return Float64Array.from(kept);
}

/** x, y, z of all returns from the stand and 5 m around it, metres. */
export const scannedFromAir = (scene: Scene, side: number, pulses_per_m2: number, job: Job): Promise<Float64Array> =>
  scanned(scene, side, AIRCRAFT, pulses_per_m2, job);

/** The same from a drone 60 m above the ground, 600 pulses per square metre. */
export const scannedFromDrone = (scene: Scene, side: number, job: Job): Promise<Float64Array> =>
  scanned(scene, side, DRONE, DRONE_PER_M2, job);
const DRONE_PER_M2 = 600;
