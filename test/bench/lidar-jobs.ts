// A synthetic scan through the running service: request to last byte of the frame, sessions and octrees included.
import { encodeFrame, type FrameArray } from "../../shared/wire/phb1.ts";
import { metaOf, postForFrame } from "./frame-client.ts";
import { usageOf } from "./process.ts";
import { withService } from "./service.ts";
import { used } from "./service-jobs.ts";
import { now } from "./stage-clock.ts";

export interface ScanWish {
  readonly triangles: number;
  readonly pulses: number;
  readonly rays: number;
}

/** Edge of the cube of leaves, and of a leaf, metres. */
const [CUBE, LEAF] = [10, 0.1];
const AWAY = 8;

/** The next number of [0, 1) of a linear congruential generator (Knuth's MMIX). */
function generator(seed: bigint) {
  let state = seed;
  return () => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 11n) / 2 ** 53;
  };
}

/** Triangles of any direction at random places. */
function leaves(count: number) {
  const next = generator(7n);
  const vertices = new Float32Array(9 * count);
  for (let t = 0; t < count; t += 1) {
    const place = [next(), next(), next()].map((part) => (part - 0.5) * CUBE);
    for (let k = 0; k < 9; k += 1) vertices[9 * t + k] = (place[k % 3] ?? 0) + (next() - 0.5) * LEAF;
  }
  return { vertices, triangles: Uint32Array.from({ length: 3 * count }, (_, i) => i) };
}

/** One scanner beside the cube whose pulses all pass through it. */
function scannerOf(pulses: number) {
  const side = Math.round(Math.sqrt(pulses));
  const half = (Math.atan2(0.45 * CUBE, AWAY + CUBE / 2) * 180) / Math.PI;
  return {
    id: "bench",
    origin: [0, -AWAY - CUBE / 2, 0],
    n_theta: side,
    n_phi: side,
    theta_min_deg: 90 - half,
    theta_max_deg: 90 + half,
    phi_min_deg: -half,
    phi_max_deg: half,
    exit_diameter_m: 0.005,
    beam_divergence_mrad: 0.3,
  };
}

export const scanAnswers = ({ triangles, pulses, rays }: ScanWish) =>
  withService((service) =>
    used(service, async () => {
      const { vertices, triangles: corners } = leaves(triangles);
      const buffers: Record<string, FrameArray> = { "meshes.0.vertices": vertices, "meshes.0.triangles": corners };
      const request = { scanners: [scannerOf(pulses)], rays_per_pulse: rays, seed: 1 };
      const body = Buffer.from(encodeFrame({ request }, buffers));
      const before = usageOf(service.pid).cpu_s;
      const started = now();
      const { head } = await postForFrame(`${service.url}/api/lidar/scan`, body);
      const answer_s = now() - started;
      const answer_cpu_s = usageOf(service.pid).cpu_s - before;
      return { count: pulses * rays, answer_s, answer_cpu_s, points: pointsOf(head) };
    }),
  );

/** Points of a frame. Errors: the scan failed. */
function pointsOf(head: Buffer): number {
  const { success, error, scanners } = metaOf(head).meta as unknown as {
    readonly success: boolean;
    readonly error?: string;
    readonly scanners: readonly { readonly num_points: number; readonly session: object | null }[];
  };
  if (!success) throw new Error(`the scan failed: ${error}`);
  const [scan] = scanners;
  if (!scan?.session) throw new Error("the scan made no session");
  return scan.num_points;
}
