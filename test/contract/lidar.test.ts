import { PNG } from "pngjs";
import { describe, expect, test, vi } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import type { LidarScanSuccess } from "../../shared/contract/lidar-frame.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { LIDAR_SCAN, lidarScanned, SCANNER, standing, wall } from "../support/session/lidar-scans.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const scan = (payload: object) => lidarScanned(made, payload);
const WALL = { meshes: [wall(5, 3)], scanners: [SCANNER], rays_per_pulse: 1 };
const stateOf = async (meta: LidarScanSuccess, i = 0) =>
  (await made.deps.sessions.get(meta.scanners[i]?.session?.session_id ?? "")).state;

describe("a wall", () => {
  test("points, fields and a session", async () => {
    const { meta, f32, names } = await scan(WALL);
    const [cloud] = meta.scanners;
    expect(cloud).toMatchObject({
      scanner_id: "front",
      num_points: 81,
      has_colors: false,
      scalar_fields: ["intensity", "distance", "timestamp", "target_index", "target_count"],
      session: { point_count: 81, has_misses: false, miss_count: 0, miss_slug: "is_miss", scan_origin: [0, 0, 0] },
    });
    expect(names).toEqual(["s0.points", ...[0, 1, 2, 3, 4].map((j) => `s0.scalar${j}`)]);
    const points = f32("s0.points");
    const distances = f32("s0.scalar1");
    for (let i = 0; i < 81; i += 1) {
      const [x = 0, y = 0, z = 0] = points.slice(3 * i, 3 * i + 3);
      expect(y).toBeCloseTo(5, 6);
      expect(distances[i]).toBeCloseTo(Math.hypot(x, y, z), 5);
      expect(f32("s0.scalar0")[i]).toBeCloseTo(5 / Math.hypot(x, y, z), 6);
    }
    expect(f32("s0.scalar2")).toEqual(Array.from({ length: 81 }, (_, i) => i));
    expect(f32("s0.scalar4")).toEqual(new Array(81).fill(1));
    const state = await stateOf(meta);
    expect([...state.columns.keys()].sort()).toEqual([
      "extra/distance",
      "extra/is_miss",
      "extra/target_count",
      "extra/target_index",
      "intensity",
      "positions",
      "timestamps",
    ]);
    expect(state.columns.get("timestamps")?.native.dtype).toBe("f64");
    expect(state.meta).toMatchObject({ world_shift: null, octree_cache_id: cloud?.session?.cache_id });
    expect(cloud?.session?.attributes?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["intensity", "gps-time", "distance", "target_index", "target_count"]),
    );
  });

  test("a flat mesh is hit, and one seen from its edge is not", async () => {
    const floor = (z: number) => ({ ...wall(0, 3), vertices: wall(0, 3).vertices.map(([x, , y]) => [x, y + 4, z]) });
    expect((await scan({ ...WALL, meshes: [floor(-0.2)] })).meta.scanners[0]?.num_points).toBe(36);
    const level = { ...SCANNER, n_theta: 1, theta_min_deg: 90 };
    const { meta } = await scan({ ...WALL, meshes: [floor(0)], scanners: [level] });
    expect(meta.scanners[0]).toEqual({ ...meta.scanners[0], num_points: 0, session: undefined });
    expect(meta.warnings).toEqual([expect.stringMatching(/^No pulse of scanner ".*" hit a mesh: check its origin/)]);
  });

  test("millimetres sent as metres are told", async () => {
    const wrong = { ...SCANNER, exit_diameter_m: 7, range_noise_m: 5 };
    const { meta } = await scan({ ...WALL, scanners: [wrong], rays_per_pulse: 4 });
    expect(meta.warnings).toEqual([
      expect.stringMatching(
        /^exit_diameter_m 7 of scanner ".*": no beam is as wide\. The unit is metres, 7 mm are 0\.007\.$/,
      ),
      expect.stringMatching(/^range_noise_m 5 of scanner ".*": no range scatters so/),
    ]);
    const right = { ...SCANNER, exit_diameter_m: 0.007, range_noise_m: 0.005 };
    expect((await scan({ ...WALL, scanners: [right], rays_per_pulse: 4 })).meta.warnings).toBeUndefined();
  });

  test("a grid that hits must lie in turns counter-clockwise about +z", async () => {
    // A beam of a grid behind the wall crosses it on the left of its centre or on the right.
    const beam = { center: [0.35, 4.2, 0], size: [1.2, 0.1, 4] };
    const places = async (rotation: number) => {
      const { f32 } = await scan({ ...WALL, meshes: [wall(4, 3)], scan_grid_only: true, grid: { ...beam, rotation } });
      return f32("s0.points").filter((_, i) => i % 3 === 0);
    };
    const [left, right] = [await places(45), await places(-45)];
    expect([left.length > 0, Math.min(...left) > 0.07, Math.max(...left) < 0.23]).toEqual([true, true, true]);
    expect([right.length > 0, Math.min(...right) > 0.47, Math.max(...right) < 0.63]).toEqual([true, true, true]);
  });

  test("misses are kept in the session alone, 1001 m along their beam", async () => {
    const { meta, f32 } = await scan({ ...WALL, meshes: [wall(5, 0.4)], record_misses: true });
    const { num_points = 0, session } = meta.scanners[0] ?? {};
    expect(num_points).toBeGreaterThan(0);
    expect(f32("s0.points")).toHaveLength(3 * num_points);
    expect(session).toMatchObject({ point_count: 81, has_misses: true, miss_count: 81 - num_points });
    expect(session?.miss_octree_cache_id).toMatch(/^[0-9a-f]{40}$/);
    expect(session?.bounds?.max[1]).toBeLessThan(10);
  });

  test("scan_azimuth_offset_deg turns a raster scan of part of the circle clockwise", async () => {
    const scanners = [{ ...SCANNER, scan_azimuth_offset_deg: 25 }];
    const { f32 } = await scan({ ...WALL, meshes: [wall(5, 20)], scanners });
    const bearings = f32Rows(f32("s0.points")).map(([x = 0, y = 0]) => (Math.atan2(x, y) * 180) / Math.PI);
    expect(bearings).toHaveLength(81);
    expect([Math.min(...bearings), Math.max(...bearings)]).toEqual([expect.closeTo(15, 2), expect.closeTo(37.2, 0)]);
  });

  test("several scanners have their own clouds, labels and random numbers", async () => {
    const noisy = { ...SCANNER, range_noise_m: 0.01 };
    const { meta, f32, stages } = await scan({ ...WALL, scanners: [noisy, { ...noisy, id: "again" }] });
    expect(meta.scanners.map(({ scanner_id }) => scanner_id)).toEqual(["front", "again"]);
    expect(f32("s0.scalar1")).not.toEqual(f32("s1.scalar1"));
    const shown = stages.map(([at, label]) => `${at} ${label}`).filter((text) => text !== "null ");
    expect(shown).toEqual(
      expect.arrayContaining([
        "0.05 Loading geometry",
        "0.15 Configuring scanners",
        "0.15 Ray-tracing scene (scan 1/2)",
        "0.5 Ray-tracing scene (scan 2/2)",
        "0.85 Extracting hits",
        "0.95 Building point clouds",
      ]),
    );
    expect(new Set(shown.map((text) => text.replace(/^\S+ /, ""))).size).toBe(6);
    const alone = (await scan(WALL)).stages;
    expect(alone).toContainEqual([null, "Ray-tracing scene"]);
  });

  test("equal requests give equal scans, whatever the memory budget; another seed does not", async () => {
    const request = {
      ...WALL,
      rays_per_pulse: 20,
      scanners: [{ ...SCANNER, beam_divergence_mrad: 30, return_mode: "multi", angle_noise_mrad: 1 }],
      meshes: [wall(5, 0.5), wall(6, 3)],
      pulse_distance_threshold: 0.5,
    };
    const [one, two, three] = [
      await scan(request),
      await scan({ ...request, synthetic_scan_memory_budget_mb: 1 }),
      await scan({ ...request, seed: 1 }),
    ];
    expect(one.f32("s0.points")).toEqual(two.f32("s0.points"));
    expect(one.f32("s0.points")).not.toEqual(three.f32("s0.points"));
    expect(Math.max(...one.f32("s0.scalar4"))).toBe(2);
  });
});

describe("fields", () => {
  test("extra fields on request; what no hit has is left out with a warning", async () => {
    const multi = [{ ...SCANNER, return_type: "multi", beam_divergence_mrad: 1 }];
    const organ_codes = [1, 3];
    const extra_fields = ["organ", "deviation", "nRaysHit", "reflectance"];
    const { meta, f32 } = await scan({
      ...WALL,
      rays_per_pulse: 10,
      scanners: multi,
      meshes: [{ ...wall(5, 3), organ_codes }],
      extra_fields,
    });
    expect(meta.scanners[0]?.scalar_fields.slice(5)).toEqual(["organ", "deviation", "nRaysHit"]);
    expect(new Set(f32("s0.scalar5"))).toEqual(new Set([1, 3]));
    expect(f32("s0.scalar7")).toEqual(new Array(81).fill(10));
    expect(meta.warnings).toEqual([expect.stringMatching(/reflectance/)]);
    const single = await scan({ ...WALL, extra_fields: ["deviation"] });
    expect(single.meta.scanners[0]?.scalar_fields).toHaveLength(5);
  });

  test("fields that are not retained stay in the session, hidden, and in the frame", async () => {
    const { meta } = await scan({ ...WALL, retained_standard_fields: ["distance"] });
    expect(meta.scanners[0]?.scalar_fields).toHaveLength(5);
    const names = meta.scanners[0]?.session?.attributes?.map(({ name }) => name) ?? [];
    expect(names).toContain("distance");
    for (const name of ["intensity", "gps-time", "target_index", "target_count"]) expect(names).not.toContain(name);
    expect([...(await stateOf(meta)).columns.keys()]).toEqual(
      expect.arrayContaining(["intensity", "timestamps", "extra/target_index", "extra/target_count"]),
    );
  });

  test("colours of corners and textures; holes are passed; an image that is no PNG is told", async () => {
    const image = new PNG({ width: 2, height: 1 });
    image.data = Buffer.from([255, 0, 0, 255, 0, 0, 0, 0]);
    const texture_data = PNG.sync.write(image).toString("base64");
    const front = {
      ...wall(5, 3),
      uv_coordinates: [
        [0, 1],
        [1, 1],
        [1, 0],
        [0, 0],
      ],
      // With a colour, as in the frame of a plant.
      materials: [{ name: "leaf", color: [0, 0, 1], texture_data, has_alpha: true, triangle_indices: [0, 1] }],
    };
    const behind = { ...wall(8, 5), colors: new Array(4).fill([0, 1, 0]) };
    const { meta, f32 } = await scan({ ...WALL, meshes: [front, behind] });
    expect(meta.scanners[0]).toMatchObject({ num_points: 81, has_colors: true });
    expect(meta.warnings ?? []).toEqual([]);
    const colors = f32("s0.colors");
    for (let i = 0; i < 81; i += 1) {
      const [x = 0, y = 0] = f32("s0.points").slice(3 * i, 3 * i + 2);
      if (Math.abs(x) < 1e-6) continue;
      expect(y).toBeCloseTo(x < 0 ? 5 : 8, 5);
      expect(colors.slice(3 * i, 3 * i + 3)).toEqual(x < 0 ? [1, 0, 0] : [0, 1, 0]);
    }
    const opaque = { ...front, materials: [{ texture_data: "/9j/4AAQ", has_alpha: false, triangle_indices: [0] }] };
    const told = await scan({ ...WALL, meshes: [opaque] });
    expect(told.meta.warnings).toEqual([
      expect.stringMatching(/meshes\[0\]\.materials\[0\] is not used: it is no PNG/),
    ]);
  });

  test("a moving scan keeps beam origins and pulses in its session", async () => {
    const poses = [0, 1].map((t) => ({ t: 3.5e8 + t, x: 2 * t, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 }));
    const scanner = { ...SCANNER, trajectory: { poses, lever_arm: [0, 0, 1] }, pulse_rate_hz: 810, phi_min_deg: 0 };
    const { meta, f32 } = await scan({ ...WALL, meshes: [wall(5, 900)], scanners: [scanner] });
    const [cloud] = meta.scanners;
    expect(cloud?.scalar_fields).toHaveLength(5);
    const state = await stateOf(meta);
    expect([...state.columns.keys()]).toEqual(expect.arrayContaining(["beam_origins", "extra/pulse_id"]));
    expect(cloud?.session?.scan_origin).toEqual([0, 0, 1]);
    const times = new Float64Array(state.columns.get("timestamps")?.length ?? 0);
    state.columns.get("timestamps")?.native.readInto(new Uint8Array(times.buffer), 0);
    expect(times[1]).toBeCloseTo(3.5e8 + 1 / 810, 6);
    expect(new Set(f32("s0.scalar2")).size).toBe(1); // float32 does not tell these times apart
  });

  test("multibeam and Risley scanners", async () => {
    const beams = { ...SCANNER, scan_pattern: "spinning_multibeam", beam_elevation_angles_deg: [-5, 0, 5], n_phi: 90 };
    const spun = await scan({ ...WALL, scanners: [{ ...beams, trajectory: standing(1), pulse_rate_hz: 270 }] });
    const heights = f32Rows(spun.f32("s0.points")).map(
      ([x = 0, y = 0, z = 0]) => (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI,
    );
    expect([...new Set(heights.map((deg) => Math.round(deg * 1e3) / 1e3 + 0))].sort()).toEqual([-5, 0, 5]);
    const risley_prisms = [7.3, -4.1].map((rotor_rate_hz) => ({
      wedge_angle_deg: 18,
      refractive_index: 1.51,
      rotor_rate_hz,
    }));
    const rosette = {
      ...SCANNER,
      scan_pattern: "risley_prism",
      risley_prisms,
      trajectory: standing(2),
      pulse_rate_hz: 1000,
    };
    const { meta, f32 } = await scan({ ...WALL, scanners: [rosette] });
    expect(meta.scanners[0]?.num_points).toBe(2000);
    const off = f32Rows(f32("s0.points")).map(([x = 0, , z = 0]) => Math.atan2(Math.hypot(x, z), 5));
    expect((Math.max(...off) * 180) / Math.PI).toBeCloseTo(19.2, 0);
  });
});

const f32Rows = (flat: readonly number[]) =>
  Array.from({ length: flat.length / 3 }, (_, i) => flat.slice(3 * i, 3 * i + 3));

test("a scan that cannot be kept is still returned, and a warning says so", async () => {
  const stage = vi.spyOn(made.deps.sessions, "stage").mockImplementationOnce(async (columns) => {
    for (const column of columns.values()) column.release(); // a stage takes the references over
    throw new Error("no room");
  });
  const { meta, f32 } = await scan(WALL);
  stage.mockRestore();
  expect(meta.scanners[0]?.session).toBeUndefined();
  expect(meta.warnings).toEqual([expect.stringMatching(/could not be kept as a session: no room/)]);
  expect(f32("s0.points")).toHaveLength(243);
});

test("an octree that cannot be built is a warning; the session stays", async () => {
  const build = vi.spyOn(made.deps.octreeCache, "getOrBuild").mockRejectedValueOnce(new Error("no room"));
  const { meta } = await scan({ ...WALL, scanners: [{ ...SCANNER, n_theta: 7 }] });
  build.mockRestore();
  expect(meta.scanners[0]?.session).toMatchObject({ point_count: 63 });
  expect(meta.scanners[0]?.session?.cache_id).toBeUndefined();
  expect(meta.warnings).toEqual([expect.stringMatching(/octree of a scan could not be built/)]);
});

test("a run that is canceled ends within 250 ms and leaves no session and no memory behind", async () => {
  await eventually(() => expect(addon.bulkBytesInUse()).toBe(0)); // answers before this test may still be leaving
  const sessions = made.deps.sessions.list().length;
  const scanner = { ...SCANNER, n_theta: 300, n_phi: 300, beam_divergence_mrad: 2 };
  const request = { meshes: [wall(5, 3)], scanners: [scanner], rays_per_pulse: 20 };
  for (const op of ["openScanScene", "syntheticScan", "hitFloats", "octreeBuild"] as const) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op, phase: null }, stop, async () => {
      const started = await openRun(made.base, LIDAR_SCAN, request);
      return started.outcome;
    });
    expect([op, reached, value.kind]).toEqual([op, true, "canceled"]);
    expect([op, (cancel?.().own_ms ?? Infinity) < 250]).toEqual([op, true]);
    expect([op, made.deps.sessions.list().length]).toEqual([op, sessions]);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(0));
  }
});
