// A street scanned from a car.
import type { Job } from "../../backend/jobs/job.ts";
import * as native from "../../backend/native/ray.ts";
import { scanParams } from "../../backend/services/lidar/scan-params.ts";
import { LidarScanRequest } from "../../shared/contract/lidar.ts";
import type { Scene } from "./forest/scene.ts";
import { coordinatesOf, values } from "./native.ts";
import { MIDDLE_M, SIDE_M } from "./street.ts";

const quaternion = (a: readonly number[], b: readonly number[]) => {
  const [ax, ay, az, aw] = a as [number, number, number, number];
  const [bx, by, bz, bw] = b as [number, number, number, number];
  return {
    qx: aw * bx + ax * bw + ay * bz - az * by,
    qy: aw * by - ax * bz + ay * bw + az * bx,
    qz: aw * bz + ax * by - ay * bx + az * bw,
    qw: aw * bw - ax * bx - ay * by - az * bz,
  };
};

/** Points and what they are of: of a car that goes along the street and back. */
export async function scanStreet(scene: Scene, job: Job, pulses_per_s = 300_000, speed = 8) {
  const [xyz, id, organ]: [number[], number[], number[]] = [[], [], []];
  const half = Math.SQRT1_2;
  for (const [pass, turn] of [45, -45].entries()) {
    const t = (SIDE_M + 20) / speed;
    // The axis of the scanner lies level, 45 degrees beside the way.
    const angle = (turn * Math.PI) / 360;
    const q = quaternion([0, 0, Math.sin(angle), Math.cos(angle)], [0, half, 0, half]);
    const poses = [0, 1].map((end) => {
      const x = -10 + (pass === 0 ? end : 1 - end) * (SIDE_M + 20);
      return {
        t: end * t,
        x,
        y: MIDDLE_M + (pass === 0 ? -1.6 : 1.6),
        z: scene.ground(MIDDLE_M, MIDDLE_M) + 2.4,
        ...q,
      };
    });
    const request = LidarScanRequest.parse({
      meshes: [],
      scanners: [
        {
          ...{ id: "m", origin: [0, 0, 0], scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: [0] },
          ...{ n_theta: 1, n_phi: 3000, theta_min_deg: 0, theta_max_deg: 180, phi_min_deg: 0, phi_max_deg: 360 },
          ...{ trajectory: { poses }, pulse_rate_hz: pulses_per_s, range_noise_m: 0.006 },
        },
      ],
      ...{ rays_per_pulse: 1, seed: pass + 1 },
    });
    const params = scanParams(request.scanners[0] as (typeof request.scanners)[number], 0, request, job);
    const found = await job.quiet().track(() => native.syntheticScan(scene.scene, params));
    if (!found.color || !found.organ) throw new Error("the scan has no colours or no organs");
    const [places, code, organs] = [coordinatesOf(found.positions), values(found.color), values(found.organ)];
    for (let i = 0; i < organs.length; i += 1) {
      const [x, y] = [places[3 * i] ?? 0, places[3 * i + 1] ?? 0];
      if (Math.min(x, y) < -5 || Math.max(x, y) > SIDE_M + 5) continue;
      xyz.push(x, y, places[3 * i + 2] ?? 0);
      id.push(Number(code[3 * i]));
      organ.push(Number(organs[i]));
    }
    for (const one of Object.values(found)) if (one && typeof one === "object" && "release" in one) one.release();
  }
  return { xyz: Float64Array.from(xyz), id: Uint32Array.from(id), organ: Uint8Array.from(organ) };
}
