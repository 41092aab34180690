import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { ExtractByColumnTail } from "../../shared/contract/cloud-session/extract-by-column.ts";
import { SpacingVerdict } from "../../shared/contract/triangulate-lidar.ts";
import { create } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { lidarScanned, SCANNER, wall as scannedWall, standing } from "../support/session/lidar-scans.ts";
import { failedScanMesh, LIDAR, scanMesh, wall } from "../support/session/scan-triangulation.ts";
import { answered, cloud, refusal, streamed, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { measured } from "../support/session/triangulation.ts";

const made = sessionTest({ listening: true });
const mesh = (payload: object) => scanMesh(made, payload);
const failure = (payload: object) => failedScanMesh(made, payload);
const SPACING = "/api/triangulate/check-spacing";
const spacing = (payload: object) => answered(made, SpacingVerdict, SPACING, payload);
const origin = [0, 0, 0];
const WALL = { origin, points: wall(4) }; // 4 m x 4 m, 0.4 m apart
const rows = (points: readonly (readonly number[])[], names = "x y z") => [names, ...points.map((p) => p.join(" "))];

describe("mesh", () => {
  test("a wall, with its counts, area, vertices and stages", async () => {
    const { meta, f32, u32, names, stages } = await mesh({ scans: [WALL], lmax: 0.6 });
    expect(meta).toMatchObject({
      success: true,
      method_used: "lidar",
      num_triangles: 200,
      num_vertices: 121,
      cap_aspect: 1e9,
      dropped_outside: 0,
      grid_warning: true,
      grid_message: expect.stringContaining("bounding box"),
      scans: [{ points_used: 121, later_returns: 0, n_theta: 10, n_phi: 20, estimated: true }],
      world_shift: [0, 0, 0],
    });
    expect(meta.surface_area).toBeCloseTo(16, 5);
    expect(meta.cap_lmax).toBeCloseTo(Math.hypot(0.4, 0.4), 6);
    const { candidates, kept, ...dropped } = meta.diagnostics;
    expect(candidates).toBe(meta.candidate_count);
    expect(kept + Object.values(dropped).reduce((a, b) => a + b)).toBe(candidates);
    expect(names).toEqual(["vertices", "triangles", "triangle_scan_ids", "triangle_cell_ids"]);
    expect(measured(f32("vertices"), u32("triangles"))).toMatchObject({ euler: 1 });
    const [a = 0, b = 0, c = 0] = u32("triangles");
    const at = (v: number, k: number) => f32("vertices")[3 * v + k] ?? 0;
    const turn = (at(b, 0) - at(a, 0)) * (at(c, 2) - at(a, 2)) - (at(b, 2) - at(a, 2)) * (at(c, 0) - at(a, 0));
    expect(turn).toBeGreaterThan(0); // x to the right and z up for one who looks along +y
    expect(stages.filter(([, label]) => label !== "").map(([part, label]) => `${part} ${label}`)).toEqual(
      expect.arrayContaining([
        "0.05 Reading scans",
        "0.1 Resolving grid",
        "0.1 Triangulating",
        "0.85 Deduplicating vertices",
        "0.93 Binning into grid",
        "1 Finalizing",
      ]),
    );
    const fractions = stages.flatMap(([progress]) => progress ?? []);
    expect(fractions).toEqual([...fractions].sort((x, y) => x - y));
  });

  test("the same behind every azimuth and overhead", async () => {
    const turned = (turn: (p: readonly number[]) => number[]) => ({ origin, points: WALL.points.map(turn) });
    const scans = [
      WALL,
      turned(([x = 0, y = 0, z = 0]) => [-x, -y, z]), // azimuth 180
      turned(([x = 0, y = 0, z = 0]) => [y, -x, z]),
      turned(([x = 0, y = 0, z = 0]) => [x, -z, y]), // zenith
      turned(([x = 0, y = 0, z = 0]) => [x, z, -y]), // nadir
    ];
    const { meta, u32, stages } = await mesh({ scans, lmax: 0.6 });
    expect(meta.surface_area).toBeCloseTo(5 * 16, 4);
    const ids = u32("triangle_scan_ids");
    expect([0, 1, 2, 3, 4].map((scan) => ids.filter((id) => id === scan).length)).toEqual(Array(5).fill(200));
    expect(stages.map(([, label]) => label)).toContain("Triangulating scan 5 of 5");
  });

  test("far from the origin with world_shift; without it a warning names the step", async () => {
    const far = [5e6, -2e6, 100];
    const moved = WALL.points.map((p) => p.map((v, k) => v + (far[k] ?? 0)));
    const here = await mesh({ scans: [WALL], lmax: 0.6 });
    const there = await mesh({ scans: [{ origin: far, points: moved }], lmax: 0.6, world_shift: far });
    expect(there.meta.surface_area).toBeCloseTo(here.meta.surface_area, 6);
    expect(there.meta.warnings).toBeUndefined();
    const coarse = await mesh({ scans: [{ origin: far, points: moved }], lmax: 0.6 });
    expect(coarse.meta.warnings).toEqual([expect.stringMatching(/Send world_shift/)]);
  });

  test("the estimate separates a surface from what bridges to the one behind it", async () => {
    const behind = wall(32).filter(([x, , z]) => Math.abs(x) > 11 || Math.abs(z) > 11);
    const front = WALL.points.filter(([x, , z]) => Math.abs(x) < 1.3 && Math.abs(z) < 1.3);
    const scans = [{ origin, points: [...front, ...behind] }];
    const { meta } = await mesh({ scans, lmax: 1e9, max_aspect_ratio: 1e9 });
    const { lmax, eta, label, sep_ratio, sep_label, merged } = meta.estimate;
    expect(lmax).toBeGreaterThan(0.566);
    expect(lmax).toBeLessThan(10);
    expect([label, sep_label, merged]).toEqual([eta >= 0.7 ? "High" : "Medium", "High", false]);
    expect(sep_ratio).toBeGreaterThan(4);
    const few = await mesh({ scans: [{ origin, points: wall(4, 3) }], lmax: 9 });
    expect(few.meta.estimate).toMatchObject({ lmax: null, label: "n/a", sep_ratio: null, sep_label: "n/a" });
  });

  test("two hits within 1e-5 m are one vertex, and a repeated direction counts once", async () => {
    const scans = [WALL, { origin, points: WALL.points.map(([x, y, z]) => [x + 2e-6, y, z]) }];
    expect((await mesh({ scans, lmax: 0.6 })).meta.num_vertices).toBe(121);
    const twice = await mesh({ scans: [{ origin, points: [...WALL.points, [0, 8, 0], ...WALL.points] }], lmax: 0.6 });
    expect(twice.meta).toMatchObject({ num_triangles: 200, warnings: [expect.stringMatching(/^122 hits lie in/)] });
  });
});

describe("grid", () => {
  const grid = { center: [0, 4, 0], size: [4.2, 1, 4.2], nx: 2, ny: 1, nz: 1 };

  test("crops before the triangulation, bins, turns, follows terrain", async () => {
    const whole = await mesh({ scans: [WALL], lmax: 0.6, grid });
    expect(whole.meta).toMatchObject({ num_triangles: 200, grid_warning: false, grid_message: null });
    const cells = whole.u32("triangle_cell_ids");
    expect(cells.filter((id) => id === 0)).toHaveLength(100);
    const half = await mesh({ scans: [WALL], lmax: 1e9, grid: { ...grid, size: [4.2, 1, 1.8] } }); // rows -0.8 .. 0.8
    expect(half.meta.scans[0]?.points_used).toBe(5 * 11);
    expect(half.meta.surface_area).toBeCloseTo(4 * 1.6, 5);
    const across = await mesh({ scans: [WALL], lmax: 1e9, grid: { ...grid, rotation: 90, size: [1, 1.8, 4.2] } });
    expect(across.meta.scans[0]?.points_used).toBe(5 * 11);
    const kept = await mesh({ scans: [WALL], lmax: 0.6, grid: { ...grid, kept_columns: [false, true] } });
    expect(new Set(kept.u32("triangle_cell_ids"))).toEqual(new Set([1]));
    const raised = await mesh({ scans: [WALL], lmax: 0.6, grid, bin_grid: { ...grid, column_offsets: [0, 50] } });
    expect(new Set(raised.u32("triangle_cell_ids"))).toEqual(new Set([0]));
  });

  test("of pulses with several returns only the first are used, with the separation filter", async () => {
    const second = WALL.points.map((p) => p.map((v) => 1.5 * v));
    const points = [...WALL.points, ...second];
    const n = WALL.points.length;
    const column = (a: number, b: number) => points.map((_, i) => (i < n ? a : b));
    const scalar_columns = {
      target_index: column(0, 1),
      target_count: column(2, 2),
      timestamp: points.map((_, i) => i % n),
    };
    const { meta } = await mesh({ scans: [{ origin, points, scalar_columns }], lmax: 0.6 });
    expect(meta.scans).toEqual([{ points_used: n, later_returns: n, n_theta: 10, n_phi: 20, estimated: true }]);
    expect(meta.surface_area).toBeCloseTo(16, 5);
    const { timestamp: _, ...without } = scalar_columns;
    const all = await mesh({ scans: [{ origin, points, scalar_columns: without, n_theta: 11, n_phi: 12 }], lmax: 9 });
    expect(all.meta.scans).toEqual([
      { points_used: 2 * n, later_returns: 0, n_theta: 11, n_phi: 12, estimated: false },
    ]);
    const misses = { is_miss: column(0, 1) };
    expect((await mesh({ scans: [{ origin, points, scalar_columns: misses }], lmax: 1 })).meta.scans).toMatchObject([
      { points_used: n },
    ]);
  });
});

test("surviving hits of sessions in true world coordinates; large inline lists like small ones", async () => {
  const shift = [1000, 2000, 0];
  const points = WALL.points.map(([x, y, z]) => [x + 1000, y + 2000, z, 0]);
  const sky = [[1000, 2100, 50, 1]];
  const text = rows([...points, ...sky], "x y z is_miss");
  const { session_id } = await cloud(made, text, { world_shift: shift });
  const scan = { origin: shift, session_id };
  const { meta, f32 } = await mesh({ scans: [scan], lmax: 0.6 });
  expect(meta).toMatchObject({ num_triangles: 200, num_vertices: 121 });
  expect(f32("vertices")[1]).toBeCloseTo(2004, 3);
  expect(await spacing({ scans: [scan], lmax: 0.6 })).toMatchObject({ n_points: 121, likely_bridging: false });
  const fine = { origin, points: wall(4, 201) };
  const scalar_columns = { is_miss: fine.points.map((_, i) => (i < 201 ? 1 : 0)) };
  const large = await mesh({ scans: [fine, { ...fine, scalar_columns }], lmax: 0.05 });
  expect(large.meta.scans.map(({ points_used }) => points_used)).toEqual([201 * 201, 200 * 201]);
  expect(large.meta.num_triangles).toBe(2 * 200 * 200 + 2 * 199 * 200);
});

describe("beam origins of a session", () => {
  const far = [3, 0, 0];
  const named = "x y z is_miss origin_x origin_y origin_z";
  /** A wall seen from the origin, and rows seen from elsewhere: a point, whether it is a miss, its beam origin. */
  const seen = async (elsewhere: readonly (readonly number[])[]) => {
    const near = WALL.points.map((p) => [...p, 0, 0, 0, 0]);
    return { origin, session_id: (await cloud(made, rows([...near, ...elsewhere], named))).session_id };
  };

  test("one place: a mesh; misses and deleted hits from elsewhere do not matter", async () => {
    const plain = await mesh({ scans: [await seen([])], lmax: 0.6 });
    expect(plain.meta).toMatchObject({ num_triangles: 200 });
    expect(plain.meta.warnings).toBeUndefined();
    const within = await seen([[0.2, 4, 0.2, 0, 0.0009, 0, 0]]);
    expect((await mesh({ scans: [within], lmax: 0.6 })).meta.surface_area).toBeCloseTo(16, 2);
    const scan = await seen([
      [0, 99, 0, 1, ...far],
      [-9, 0.5, 0, 0, ...far],
    ]);
    await made.remove(scan.session_id, -10, -8);
    expect((await mesh({ scans: [scan], lmax: 0.6 })).meta).toMatchObject({ num_triangles: 200 });
  });

  test("several places: refused; the spacing of the points does not need them", async () => {
    const scans = [WALL, await seen([[0.2, 4, 0.2, 0, ...far]])];
    const { error, code } = await failure({ scans, lmax: 0.6 });
    expect(code).toBe("invalid_argument");
    expect(error).toMatch(/^scans\[1\] has beam origins up to 3 m apart.*Extract.*given G/);
    expect(await spacing({ scans, lmax: 0.6 })).toMatchObject({ success: true, n_points: 243 });
  });

  test("inline pulses have theirs in origin_x, origin_y and origin_z", async () => {
    const scalar_columns = (x: number) => ({
      origin_x: WALL.points.map((_, i) => (i === 7 ? x : 0)),
      origin_y: WALL.points.map(() => 0),
      origin_z: WALL.points.map(() => 0),
    });
    expect((await mesh({ scans: [{ ...WALL, scalar_columns: scalar_columns(0) }], lmax: 0.6 })).meta).toMatchObject({
      num_triangles: 200,
    });
    const { error } = await failure({ scans: [{ ...WALL, scalar_columns: scalar_columns(2) }], lmax: 0.6 });
    expect(error).toMatch(/^scans\[0\] has beam origins up to 2 m apart/);
  });

  test("scans of a file: refused together, triangulated when they are extracted", async () => {
    const place = (x: number) =>
      [11, 11, `${x} 0 0`, "1 0 0\n0 1 0\n0 0 1", `1 0 0 0\n0 1 0 0\n0 0 1 0\n${x} 0 0 1`]
        .concat(WALL.points.map((p) => `${p.join(" ")} 0.5`))
        .join("\n");
    const { session_id } = await create(made, made.file("two.ptx", `${place(0)}\n${place(8)}\n`));
    expect((await failure({ scans: [{ origin, session_id }], lmax: 0.6 })).error).toMatch(
      /up to 8 m apart.*scan_index/,
    );
    const extract = { slug: "scan_index", exclude_values: [] };
    const url = `/api/cloud/session/${session_id}/extract_by_column`;
    const { children } = (await streamed(made, ExtractByColumnTail, url, extract)).tail;
    const scans = children.map((child, i) => ({ origin: [8 * i, 0, 0], session_id: child.session_id }));
    const { meta } = await mesh({ scans, lmax: 0.6 });
    expect(meta).toMatchObject({ num_triangles: 400 });
    expect(meta.surface_area).toBeCloseTo(2 * 16, 4);
  });

  test("synthetic scanners that stand, also with poses, and one that moves", async () => {
    const scanned = async (scanner: object) => {
      const request = { meshes: [scannedWall(5, 3)], scanners: [{ ...SCANNER, ...scanner }], rays_per_pulse: 20 };
      const { meta } = await lidarScanned(made, { ...request, beam_divergence_mrad: 3 });
      return { scans: [{ origin, session_id: meta.scanners[0]?.session?.session_id }], lmax: 2 };
    };
    const poses = [0, 100].map((t) => ({ t, x: 0.01 * t, y: 0, z: 0, qx: 0, qy: 0, qz: 0, qw: 1 }));
    for (const scanner of [{}, { trajectory: standing(100), pulse_rate_hz: 1 }])
      expect((await mesh(await scanned(scanner))).meta.num_triangles).toBeGreaterThan(20);
    const moving = await failure(await scanned({ trajectory: { poses }, pulse_rate_hz: 1 }));
    expect(moving.error).toMatch(/^scans\[0\] has beam origins up to 0\.\d+ m apart/);
  });
});

describe("failures", () => {
  test.each<[string, object, string | RegExp]>([
    ["lmax too small", { scans: [WALL], lmax: 0.1 }, /Lmax 0\.1 m\. Raise lmax/],
    ["aspect too small", { scans: [WALL], lmax: 0.6, max_aspect_ratio: 1.2 }, /exceed max_aspect_ratio 1\.2/],
    ["two points", { scans: [{ origin, points: WALL.points.slice(0, 2) }] }, /no candidate triangles/],
    ["a grid elsewhere", { scans: [WALL], grid: { center: [0, 0, 99], size: [1, 1, 1] } }, /no points lie inside/],
    ["a flat grid", { scans: [WALL], grid: { center: [0, 0, 0], size: [1, 1, 0] } }, /^grid\.size is \[1, 1, 0\]/],
    ["all deleted", { scans: [{ origin, points: [] }] }, /no surviving hits/],
    [
      "a moving scan",
      {
        scans: [
          {
            ...WALL,
            trajectory: {
              poses: [],
              frame: { crs: null, up_axis: "z", body_convention: "FLU", time_ref: null },
              lever_arm: [0, 0, 0],
              boresight_rpy: [0, 0, 0],
              source_format: "simulated",
            },
          },
        ],
      },
      /^scans\[0\] has a trajectory/,
    ],
  ])("%s", async (_name, payload, error) => {
    const meta = await failure({ lmax: 0.6, ...payload });
    expect(meta).toMatchObject({ success: false, code: "invalid_argument", error: expect.stringMatching(error) });
    const { candidates, kept, ...dropped } = meta.diagnostics;
    expect(kept + Object.values(dropped).reduce((a, b) => a + b)).toBe(candidates);
  });

  test.each([LIDAR, SPACING])("refusals before the run: %s", async (url) => {
    const refused = (payload: object) => refusal(made, url, payload);
    expect(await refused({ scans: [] })).toEqual([400, "scans is empty: at least one scan is needed"]);
    expect(await refused({ scans: [{ origin: [1, 2], points: [] }] })).toEqual([400, expect.stringMatching(/origin/)]);
    expect(await refused({ scans: [{ origin, session_id: "00000000" }] })).toEqual(UNKNOWN);
    expect(await refused({ scans: [{ origin, file_path: "/a.las" }] })).toEqual([400, expect.stringMatching(/stale/)]);
    const scalar_columns = { is_miss: [1, 0] };
    expect(await refused({ scans: [{ ...WALL, scalar_columns }] })).toEqual([
      400,
      expect.stringMatching(/2 values for/),
    ]);
    expect(await refused({ scans: [WALL], world_shift: [1] })).toEqual([400, expect.stringMatching(/world_shift/)]);
  });
});

describe("spacing", () => {
  test("ratio of lmax to the median distance of the points inside the grid", async () => {
    const grid = { center: [0, 4, 0], size: [1, 1, 1] };
    const scans = [WALL, { origin, points: wall(4, 3) }];
    const near = await spacing({ scans, lmax: 0.6 });
    expect(near).toMatchObject({ success: true, lmax: 0.6, n_points: 130, likely_bridging: false, error: null });
    expect(near.median_spacing).toBeCloseTo(0.4, 6);
    expect(near.ratio).toBeCloseTo(1.5, 5);
    expect(await spacing({ scans: [WALL], lmax: 1.21, grid })).toMatchObject({ n_points: 9, likely_bridging: true });
    expect((await spacing({ scans: [WALL], lmax: 1, typo: 1 })).warnings).toEqual([expect.stringMatching(/"typo"/)]);
  });

  test("nothing to measure", async () => {
    const verdict = async (points: number[][], more: object = {}) =>
      (await spacing({ scans: [{ origin, points }], lmax: 1, ...more })).error;
    const grid = { center: [0, 0, 99], size: [1, 1, 1] };
    expect(await verdict(WALL.points, { grid })).toMatch(/no points inside/);
    expect(await verdict([[1, 2, 3]])).toMatch(/at least 2/);
    expect(
      await verdict([
        [1, 2, 3],
        [1, 2, 3],
        [1, 2, 3],
      ]),
    ).toMatch(/all distances are zero/);
  });
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const spread = Array.from({ length: 60_000 }, (_, i) => [(i * 7919) % 9973, (i * 104_729) % 9949, (i * 31) % 9970]);
  const { session_id } = await cloud(made, rows(spread));
  const grid = { center: [5000, 5000, 5000], size: [10_000, 10_000, 10_000], nx: 10, ny: 10 };
  const scans = [{ origin: [5000, 5000, 5000], session_id }];
  const before = addon.bulkBytesInUse();
  for (const op of ["voxelPoints", "triangulateScan", "scanMesh", "scanMeshPayload"] as const) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op, phase: null }, stop, async () => {
      const started = await openRun(made.base, LIDAR, { scans, lmax: 1e4, grid });
      return started.outcome;
    });
    expect([op, reached, value.kind]).toEqual([op, true, "canceled"]);
    expect([op, (cancel?.().own_ms ?? Infinity) < 250]).toEqual([op, true]);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
});
