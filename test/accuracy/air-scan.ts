// A generated stand scanned from an aircraft: parallel strips, several returns per pulse.
import type { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import type { Scene } from "./forest/scene.ts";
import { coordinatesOf } from "./native.ts";

const HEIGHT_M = 500;
const STRIPS = 3;
/** Between strips: bearings up to 19 degrees from the vertical. */
const STRIP_M = 175;
const SPEED = 60;
/** Around the stand. */
const MARGIN_M = 10;
const KEPT_MARGIN_M = 5;
/** Footprints of 25 cm, in so many parts; surfaces closer than 0.8 m are one return. */
const DIVERGENCE_MRAD = 0.5;
const RAYS = 30;
const PULSE_M = 0.8;
const NOISE_M = 0.015;
/** From body to world, along +x: the scanner turns about its z. */
const ATTITUDE = { qx: 0, qy: Math.SQRT1_2, qz: 0, qw: Math.SQRT1_2 };

function stripOf(scene: Scene, side: number, strip: number, pulses_per_m2: number) {
  const across = (strip - (STRIPS - 1) / 2) * STRIP_M;
  const long = side + 2 * MARGIN_M;
  const step = Math.sqrt(STRIPS / pulses_per_m2);
  const slant = Math.hypot(HEIGHT_M, across);
  // Equal steps along and across the ground.
  const n_phi = Math.round((2 * Math.PI * slant * slant) / HEIGHT_M / step);
  const t = long / SPEED;
  const z = scene.ground(side / 2, side / 2) + HEIGHT_M;
  const poses = [0, 1].map((end) => ({
    t: end * t,
    x: -MARGIN_M + end * long,
    y: side / 2 + across,
    z,
    ...ATTITUDE,
  }));
  return {
    ...{ id: "m", origin: [0, 0, 0], scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: [0], n_theta: 1 },
    ...{ n_phi, theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360, trajectory: { poses } },
    ...{ pulse_rate_hz: (n_phi * long) / step / t, return_mode: "multi", max_returns: 5 },
    ...{ range_noise_m: NOISE_M, beam_divergence_mrad: DIVERGENCE_MRAD },
  };
}

/** x, y, z of all returns from the stand and 5 m around it, metres. */
export async function scannedFromAir(
  scene: Scene,
  side: number,
  pulses_per_m2: number,
  job: Job,
): Promise<Float64Array> {
  const kept: number[] = [];
  for (let strip = 0; strip < STRIPS; strip += 1) {
    const request = LidarScanRequest.parse({
      meshes: [],
      scanners: [stripOf(scene, side, strip, pulses_per_m2)],
      pulse_distance_threshold: PULSE_M,
      rays_per_pulse: RAYS,
      seed: strip + 1,
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
