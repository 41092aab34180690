import { expect, test } from "vitest";
import { failedScan, LIDAR_SCAN, SCANNER, standing, wall } from "../support/session/lidar-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const GOOD = { meshes: [wall(5, 3)], scanners: [SCANNER], rays_per_pulse: 1 };
const scanner = (change: object) => ({ ...GOOD, scanners: [{ ...SCANNER, ...change }] });
const mesh = (change: object) => ({ ...GOOD, meshes: [{ ...wall(5, 3), ...change }] });
const risley = {
  scan_pattern: "risley_prism",
  risley_prisms: [{ wedge_angle_deg: 18, refractive_index: 1.5, rotor_rate_hz: 9 }],
};
const multibeam = { scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: [0] };
const moving = { trajectory: standing(1), pulse_rate_hz: 100 };

test.each<[string, object, RegExp]>([
  ["no meshes", { ...GOOD, meshes: [] }, /No geometry to scan/],
  ["no scanners", { ...GOOD, scanners: [] }, /No scanners defined/],
  ["too many scanners", { ...GOOD, scanners: new Array(257).fill(SCANNER) }, /257 scanners/],
  ["no triangles", mesh({ triangles: [] }), /Geometry has no triangles/],
  ["Risley without prisms", scanner({ ...risley, ...moving, risley_prisms: [] }), /prism/],
  ["Risley without trajectory", scanner(risley), /trajectory/],
  ["Risley without pulse rate", scanner({ ...risley, trajectory: standing(1) }), /pulse_rate/],
  [
    "Risley with total reflection",
    scanner({ ...risley, ...moving, risley_prisms: [{ wedge_angle_deg: 60, refractive_index: 2, rotor_rate_hz: 1 }] }),
    /reflect/,
  ],
  ["multibeam without trajectory", scanner(multibeam), /multibeam.*trajectory/],
  ["multibeam without channels", scanner({ ...multibeam, ...moving, beam_elevation_angles_deg: [] }), /elevation/],
  ["trajectory without poses", scanner({ ...moving, trajectory: { poses: [] } }), /trajectory/],
  ["trajectory without pulse rate", scanner({ trajectory: standing(1) }), /pulse_rate/],
  ["trajectory whose times stand still", scanner({ ...moving, trajectory: standing(0) }), /must increase/],
  [
    "trajectory without attitude",
    scanner({ ...moving, trajectory: { poses: [{ ...standing(1).poses[0], qw: 0 }] } }),
    /quaternion/,
  ],
  ["no rows", scanner({ n_theta: 0 }), /n_theta is 0/],
  ["no columns", scanner({ n_phi: -1 }), /n_phi is -1/],
  ["a zenith beyond 180", scanner({ theta_max_deg: 181 }), /theta_max_deg is 181/],
  ["too many pulses", scanner({ n_theta: 1e6, n_phi: 1e6 }), /1000000000000 pulses/],
  ["no rays", { ...GOOD, rays_per_pulse: 0 }, /rays_per_pulse is 0/],
  ["a negative merge distance", { ...GOOD, pulse_distance_threshold: -1 }, /pulse_distance_threshold/],
  ["no returns", scanner({ max_returns: 0 }), /max_returns is 0/],
  ["a negative noise", scanner({ range_noise_m: -1 }), /range_noise_m/],
  ["a vertex that is not there", mesh({ triangles: [[0, 1, 4]] }), /meshes\[0\]\.triangles/],
  ["triangles twice", mesh({ indices: [0, 1, 2] }), /triangles and indices/],
  ["colours for some vertices", mesh({ colors: [[1, 1, 1]] }), /meshes\[0\]\.colors/],
  ["an organ that is none", mesh({ organ_codes: [1, 7] }), /organ_codes/],
  ["an empty grid", { ...GOOD, scan_grid_only: true, grid: { center: [0, 0, 0], size: [1, 0, 1] } }, /grid\.size/],
])("%s is reported in the frame", async (_name, payload, text) => {
  const failure = await failedScan(made, payload);
  expect(failure.error).toMatch(text);
  expect(failure.code).toBe("invalid_argument");
  expect(made.deps.sessions.list()).toEqual([]);
});

test.each<[string, object]>([
  ["a scanner without an id", { ...GOOD, scanners: [{ ...SCANNER, id: undefined }] }],
  ["an unknown pattern", scanner({ scan_pattern: "spiral" })],
  ["an unknown return mode", scanner({ return_mode: "some" })],
  ["vertices that are no points", mesh({ vertices: [[0, 0]] })],
  ["a seed below 0", { ...GOOD, seed: -1 }],
])("%s is no request", async (_name, payload) => {
  const answer = await made.app.inject({ method: "POST", url: LIDAR_SCAN, payload });
  expect(answer.statusCode).toBe(422);
});

test("legacy return types and unknown selections are accepted", async () => {
  for (const change of [{ return_type: "single" }, { return_type: "all" }, { return_selection: "median" }]) {
    const answer = await made.app.inject({ method: "POST", url: LIDAR_SCAN, payload: scanner(change) });
    expect(answer.rawPayload.includes('"num_points":81')).toBe(true);
  }
});
