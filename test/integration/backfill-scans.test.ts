import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { DATA } from "../support/scans/data-folder.ts";
import { type ReferencePulses, referencePulses } from "../support/scans/lidar-reference.ts";
import { MOVING_SCANNER } from "../support/scans/moving-scanner.ts";
import { backfilled, backfillUrl, compared, minus, missesOf } from "../support/session/backfill.ts";
import { lidarScanned, wall } from "../support/session/lidar-scans.ts";
import { cloud, columnOf, failed } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
type Triple = [number, number, number];

/** A floor 1.5 m below the scanner, 60 m wide, with gaps, and two walls; the rest is sky. */
const floor = (x: number, half: number) => ({
  vertices: [
    [x - half, -30, -1.5],
    [x + half, -30, -1.5],
    [x + half, 30, -1.5],
    [x - half, 30, -1.5],
  ],
  triangles: [
    [0, 1, 2],
    [0, 2, 3],
  ],
});
const MESHES = [floor(-20, 12), floor(0, 7), floor(20, 12), wall(5, 1.2), wall(-8, 2)];
const RASTER = {
  id: "a",
  origin: [0, 0, 0] as Triple,
  n_theta: 60,
  n_phi: 120,
  theta_min_deg: 30,
  theta_max_deg: 130,
  phi_min_deg: 0,
  phi_max_deg: 357,
};

/** Known misses of a scan, and what a session of its hits alone recovers, by the number of the pulse. */
async function recovered(scanner: object, request: object, more: object = {}) {
  const scan = { meshes: MESHES, scanners: [{ ...RASTER, ...scanner }], rays_per_pulse: 1, ...more };
  const ids: string[] = [];
  for (const record_misses of [true, false]) {
    const { meta } = await lidarScanned(made, { ...scan, record_misses });
    ids.push(meta.scanners[0]?.session?.session_id ?? "");
  }
  const [full = "", hits = ""] = ids;
  const {
    pulse_rate_hz = 1,
    trajectory,
    origin,
  } = { ...RASTER, ...scanner } as unknown as {
    pulse_rate_hz?: number;
    trajectory?: { poses: { t: number }[] };
    origin: Triple;
  };
  const start = trajectory?.poses[0]?.t ?? 0;
  const pulse = (time: number) => Math.round((time - start) * pulse_rate_hz);
  const known = new Map<number, Triple>();
  const [xyz = [], misses = [], times = [], origins] = await Promise.all(
    ["positions", "extra/is_miss", "timestamps", "beam_origins"].map((key) => columnOf(made, full, key)),
  );
  for (const [i, miss] of misses.entries()) {
    const from = (k: 0 | 1 | 2) => (origins ? (origins[3 * i + k] ?? Number.NaN) : origin[k]);
    const at = (k: 0 | 1 | 2) => (xyz[3 * i + k] ?? Number.NaN) - from(k);
    if (miss) known.set(pulse(times[i] ?? Number.NaN), [at(0), at(1), at(2)]);
  }
  const { tail } = await backfilled(made, hits, { origin, ...request });
  const found = new Map<number, Triple>();
  for (const { at, time, origin: own } of await missesOf(made, hits)) {
    const from = own ?? origin;
    found.set(pulse(time ?? Number.NaN), [at[0] - from[0], at[1] - from[1], at[2] - from[2]]);
  }
  return { tail, full, hits, ...compared(found, known), known_count: known.size };
}

const SWEEP = { theta_min: 30, theta_max: 130 };

describe("misses taken away from our own scans come back", () => {
  test("of a raster, by its clock", async () => {
    const result = await recovered({ pulse_rate_hz: 1e5 }, SWEEP);
    expect(result).toMatchObject({ recall: 1, false_share: 0 });
    expect(result.known_count).toBeGreaterThan(4000);
    expect(result.worst_deg).toBeLessThan(1e-9);
    expect(result.tail).toMatchObject({ backfilled: result.known_count, has_misses: true });
  });

  test("of a raster under an open sky, by its clock and the limits of its sweep, and not without these", async () => {
    const open = { pulse_rate_hz: 1e5, n_theta: 101, n_phi: 180, phi_max_deg: 358 };
    const { recall, false_share, hits } = await recovered(open, SWEEP, { meshes: [floor(0, 30)] });
    expect([recall, false_share]).toEqual([1, 0]);
    for (const size of [{}, { n_theta: 101, n_phi: 180 }])
      expect((await failed(made, backfillUrl(hits), { origin: [0, 0, 0], ...size })).error).toMatch(
        /^6\d of 101 pulses of a line have no return/,
      );
  });

  test("of a tilted raster with several returns, noise and a heading", async () => {
    const scanner = {
      pulse_rate_hz: 3e5,
      return_mode: "multi",
      beam_divergence_mrad: 1,
      exit_diameter_m: 0.005,
      tilt_roll_deg: 3,
      tilt_pitch_deg: -2,
      scan_azimuth_offset_deg: 40,
      range_noise_m: 0.01,
      angle_noise_mrad: 0.2,
    };
    const attitude = { tilt_roll_deg: 3, tilt_pitch_deg: -2, azimuth_offset_deg: 40, beam_divergence: 1 };
    const result = await recovered(scanner, { ...SWEEP, ...attitude }, { rays_per_pulse: 20 });
    expect(result).toMatchObject({ recall: 1, false_share: 0 });
    expect(result.known_count).toBeGreaterThan(4000);
    expect(result.worst_deg).toBeLessThan(0.1); // 1.7 degrees a step, noise 0.011
  });

  test("of a multibeam scanner on a moving body", async () => {
    const scanner = {
      scan_pattern: "spinning_multibeam",
      beam_elevation_angles_deg: Array.from({ length: 32 }, (_, i) => -30.67 + 1.33 * i),
      n_phi: 90,
      pulse_rate_hz: 32 * 90 * 5,
      trajectory: MOVING_SCANNER,
    };
    const result = await recovered(scanner, { trajectory: scanner.trajectory, origin_known: false });
    expect(result).toMatchObject({ recall: 1, false_share: 0 });
    expect(result.known_count).toBeGreaterThan(4000);
    expect(result.worst_deg).toBeLessThan(1e-4); // time stamps of 5e8 s have steps of 6e-8 s
  });

  test("of a raster on a moving body", async () => {
    const scanner = { n_phi: 60, pulse_rate_hz: 60 * 60 * 3, trajectory: MOVING_SCANNER };
    const result = await recovered(scanner, { ...SWEEP, trajectory: scanner.trajectory, origin_known: false });
    expect(result).toMatchObject({ recall: 1, false_share: 0 });
    expect(result.known_count).toBeGreaterThan(4000);
    expect(result.worst_deg).toBeLessThan(1e-4); // time stamps of 5e8 s have steps of 6e-8 s
  });
});

describe.skipIf(!existsSync(DATA))("misses of another simulator's scans (lidar_reference)", () => {
  const session = async (name: string, scan: number, timed: boolean) => {
    const pulses = referencePulses(name, scan);
    const rows = pulses.hits.map(({ pulse, at }) => (timed ? [...at, 4e8 + pulse / 65_536] : at).join(" "));
    const { session_id } = await cloud(made, [timed ? "x y z timestamp" : "x y z", ...rows]);
    return { ...pulses, session_id };
  };
  const sweep = ({ raster: { origin, n_theta, n_phi, ...angles } }: ReferencePulses) => ({
    origin,
    n_theta,
    n_phi,
    theta_min: angles.theta_min_deg,
    theta_max: angles.theta_max_deg,
    phi_min: angles.phi_min_deg,
    phi_max: angles.phi_max_deg,
  });
  /** Several returns per pulse. */
  const CASE = "cube1m_spherical_lad2_multi_1scan";
  const expectAll = (found: ReturnType<typeof compared>) => {
    expect(found).toMatchObject({ recall: 1, false_share: 0 });
    expect(found.worst_deg).toBeLessThan(1e-9);
  };

  test("by their clock", async () => {
    const { session_id, raster, misses, ...rest } = await session(CASE, 0, true);
    const { tail } = await backfilled(made, session_id, sweep({ raster, misses, ...rest }));
    expect(tail.warnings?.join()).toMatch(/pulse clock/);
    const found = new Map<number, Triple>();
    for (const { at, time = Number.NaN } of await missesOf(made, session_id))
      found.set(Math.round((time - 4e8) * 65_536), minus(at, raster.origin));
    expectAll(compared(found, misses));
  });

  test("by their settings", async () => {
    const { session_id, raster, misses, ...rest } = await session(CASE, 0, false);
    const { tail } = await backfilled(made, session_id, sweep({ raster, misses, ...rest }));
    expect(tail.warnings?.join()).toMatch(/declared raster/);
    const found = new Map<number, Triple>();
    for (const { at, row = -1, column = -1 } of await missesOf(made, session_id))
      found.set(row + raster.n_theta * column, minus(at, raster.origin));
    expectAll(compared(found, misses));
  });
});
