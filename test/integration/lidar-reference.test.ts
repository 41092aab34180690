import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { LidarScanSuccess } from "../../shared/contract/lidar-frame.ts";
import { DATA } from "../support/scans/data-folder.ts";
import { scanOfFrame } from "../support/session/lidar-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

/*
 * Scans of another simulator (shared data, lidar_reference): every pulse of ideal scans, and statistics of beams with a
 * footprint. Bounds are those of its manifest.
 */
const FOLDER = join(DATA, "lidar_reference/lidar");
const present = existsSync(join(FOLDER, "scans.json"));
if (!present) console.warn(`reference scans are absent from ${DATA}: set APP_TEST_DATA`);

const made = sessionTest();

interface ReferenceScan {
  readonly origin: [number, number, number];
  readonly n_theta: number;
  readonly n_phi: number;
  readonly theta_min_deg: number;
  readonly theta_max_deg: number;
  readonly phi_min_deg: number;
  readonly phi_max_deg: number;
  readonly scene: string;
  readonly pulses: number;
}
interface Statistics {
  readonly returns_per_pulse_histogram: readonly number[];
  readonly mean_first_m: number;
  readonly mean_last_m: number;
  readonly mean_returns_of_hit_pulses: number;
}
const json = <T>(name: string) => JSON.parse(readFileSync(join(FOLDER, name), "utf8")) as T;

function surfaces(scene: string) {
  const vertices: number[] = [];
  const indices: number[] = [];
  for (const line of gunzipSync(readFileSync(join(FOLDER, scene)))
    .toString()
    .split("\n")) {
    const [kind, ...values] = line.trim().split(/\s+/);
    if (kind === "v") vertices.push(...values.map(Number));
    if (kind === "f") indices.push(...values.map((value) => Number.parseInt(value, 10) - 1));
  }
  return { "meshes.0.vertices": Float32Array.from(vertices), "meshes.0.indices": Uint32Array.from(indices) };
}

/** Rows of a float32 array of shape (n, 8): row, column, direction, distance, cosine of incidence, agrees with Embree. */
function pulses(name: string): Float32Array {
  const bytes = gunzipSync(readFileSync(join(FOLDER, `${name}.npy.gz`)));
  const at = 10 + bytes.readUInt16LE(8);
  expect(bytes.subarray(10, at).toString()).toMatch(/'<f4'.*False/);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset + at, bytes.byteOffset + bytes.length));
}

async function scanned(scan: ReferenceScan, scanner: object, request: object) {
  const { origin, n_theta, n_phi, theta_min_deg, theta_max_deg, phi_min_deg, phi_max_deg } = scan;
  const raster = { id: "a", origin, n_theta, n_phi, theta_min_deg, theta_max_deg, phi_min_deg, phi_max_deg };
  const found = await scanOfFrame(made, { scanners: [{ ...raster, ...scanner }], ...request }, surfaces(scan.scene));
  if (!("outcome" in found) || found.outcome?.kind !== "frame") throw new Error(JSON.stringify(found).slice(0, 500));
  const { meta, buffers } = found.outcome.frame;
  const [cloud] = LidarScanSuccess.parse(meta).scanners;
  const field = (name: string) => {
    const j = cloud?.scalar_fields.indexOf(name) ?? -1;
    return buffers.get(`s0.scalar${j}`) as Float32Array;
  };
  return { points: buffers.get("s0.points") as Float32Array, field };
}

describe.skipIf(!present)("scans of another simulator", () => {
  const scans = present ? json<Record<string, ReferenceScan>>("scans.json") : {};

  test.each(Object.keys(scans))("%s: distances and incidence of every pulse", async (name) => {
    const scan = scans[name] as ReferenceScan;
    const stored = pulses(name);
    const { points, field } = await scanned(scan, {}, { rays_per_pulse: 1 });
    const [distance, time, cosine] = [field("distance"), field("timestamp"), field("intensity")];
    const found = new Map(Array.from(time, (pulse, i) => [pulse, i]));
    let [agree, hits, agreeing, disputed, directions, incidence] = [0, 0, 0, 0, 0, 0];
    for (let pulse = 0; pulse < scan.pulses; pulse += 1) {
      const [, , dx = 0, dy = 0, dz = 0, wanted = 0, cos = 0, embree = 0] = stored.subarray(8 * pulse, 8 * pulse + 8);
      const i = found.get(pulse);
      const range = i === undefined ? -1 : (distance[i] ?? 0);
      const same = range < 0 === wanted < 0 && (range < 0 || Math.abs(range - wanted) <= 1e-4);
      agree += same ? 1 : 0;
      hits += wanted >= 0 ? 1 : 0;
      agreeing += wanted >= 0 && same ? 1 : 0;
      if (embree === 0) disputed += same ? 1 : 0;
      if (i === undefined) continue;
      const ray = [0, 1, 2].map((k) => ((points[3 * i + k] ?? 0) - (scan.origin[k] ?? 0)) / range);
      const off = Math.hypot((ray[0] ?? 0) - dx, (ray[1] ?? 0) - dy, (ray[2] ?? 0) - dz);
      directions = Math.max(directions, off);
      if (same && embree === 1 && Math.abs((cosine[i] ?? 0) - cos) > 1e-3) incidence += 1;
    }
    expect(agree / scan.pulses).toBeGreaterThanOrEqual(0.999);
    expect(agreeing / hits).toBeGreaterThanOrEqual(0.995);
    expect(disputed).toBeLessThanOrEqual(1); // where that simulator is wrong, Embree is right
    expect(directions).toBeLessThan(2e-6); // of points in float32
    expect(incidence).toBeLessThanOrEqual(1e-3 * hits); // rays through an edge of two triangles
  });

  test.each([
    ["primitives_pos1", 2, 0.05],
    ["leafquads_pos1", 2, 0],
    ["tree_pos1", 0.35, 0.05],
  ])("%s: returns of a beam of %d mrad, threshold %d", async (name, divergence, threshold) => {
    const scan = scans[name] as ReferenceScan;
    const table = json<Record<string, Record<string, Statistics>>>("multi_return_stats.json")[name];
    const wanted = table?.[`div_${divergence}_mrad_threshold_${threshold}`] as Statistics;
    const beam = { exit_diameter_m: 0.007, beam_divergence_mrad: divergence, return_mode: "multi", max_returns: 99 };
    const { field } = await scanned(scan, beam, { rays_per_pulse: 100, detection_threshold: threshold });
    const [counts, index, distance] = [field("target_count"), field("target_index"), field("distance")];
    const shares = new Array<number>(9).fill(0);
    let [first, last, hit] = [0, 0, 0];
    for (const [i, echo] of index.entries()) {
      const count = counts[i] ?? 0;
      if (echo === count - 1) last += distance[i] ?? 0;
      if (echo !== 0) continue;
      const k = Math.min(8, count);
      shares[k] = (shares[k] ?? 0) + 1 / scan.pulses;
      first += distance[i] ?? 0;
      hit += 1;
    }
    shares[0] = 1 - hit / scan.pulses;
    const histogram = wanted.returns_per_pulse_histogram.map((count) => count / scan.pulses);
    expect(Math.abs((shares[0] ?? 0) - (histogram[0] ?? 0))).toBeLessThan(0.004);
    for (let k = 1; k < 9; k += 1) expect(Math.abs((shares[k] ?? 0) - (histogram[k] ?? 0))).toBeLessThan(0.03);
    const bound = name.startsWith("primitives") ? 0.03 : 0.01;
    expect(Math.abs(first / hit - wanted.mean_first_m)).toBeLessThan(bound);
    expect(Math.abs(last / hit - wanted.mean_last_m)).toBeLessThan(bound);
    expect(Math.abs(index.length / hit / wanted.mean_returns_of_hit_pulses - 1)).toBeLessThan(0.07);
  });
});
