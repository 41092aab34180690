import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { cloud, lineCloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { lattice, measured, TRIANGULATE, triangulated } from "../support/session/triangulation.ts";

const made = sessionTest({ listening: true });
const mesh = (payload: object) => triangulated(made, payload);
const SHEET = lattice(6, 4, 1, [0, 0, 7]);
const rows = (points: readonly (readonly number[])[]) => ["x y z", ...points.map((point) => point.join(" "))];

describe("delaunay", () => {
  test("a terrain of all points, upwards, with area and normals", async () => {
    const { meta, f32, u32, names, stages } = await mesh({ points: SHEET, method: "delaunay" });
    expect(meta).toEqual({
      success: true,
      error: null,
      method_used: "delaunay",
      num_triangles: 30,
      num_vertices: 24,
      surface_area: 15,
      relief: expect.objectContaining({ area_ratio: 1, two_faced_share: 0 }),
      points_used: 24,
      downsampled: false,
      world_shift: [0, 0, 0],
    });
    expect(names).toEqual(["vertices", "indices", "normals"]);
    expect(measured(f32("vertices"), u32("indices"))).toMatchObject({ area: 15, euler: 1 });
    expect(f32("normals").slice(0, 6)).toEqual([0, 0, 1, 0, 0, 1]);
    const fractions = stages.flatMap(([progress]) => progress ?? []);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(stages.filter(([, label]) => label !== "").map(([at, label]) => `${at} ${label}`)).toEqual(
      expect.arrayContaining([
        "0.05 Reading points",
        "0.15 Preparing point cloud",
        "0.45 Meshing (delaunay)",
        "0.85 Cleaning up mesh",
        "0.95 Computing surface area",
        "1 Finalizing",
      ]),
    );
  });

  test("of points above each other the first counts, and a warning says so", async () => {
    const { meta, f32 } = await mesh({ points: [...SHEET, [0, 0, 99]], method: "delaunay" });
    expect([meta.num_vertices, meta.points_used, Math.max(...f32("vertices"))]).toEqual([24, 25, 7]);
    expect(meta.warnings).toEqual([expect.stringMatching(/^1 points have the x and y of another/)]);
  });
});

describe("alpha_shape", () => {
  test("a box of points is closed and outward, also far from the origin with world_shift", async () => {
    const here = await mesh({ points: lattice(4, 3, 3), method: "alpha_shape", alpha: 2 });
    expect(here.meta).toMatchObject({ num_vertices: 34, num_triangles: 64, surface_area: 32, alpha_m: 2 });
    expect(here.meta.volume_m3).toBeCloseTo(12, 12);
    expect(here.meta.mean_spacing_m).toBe(1);
    const surface = measured(here.f32("vertices"), here.u32("indices"));
    expect(surface).toMatchObject({ closed: true, euler: 2 });
    expect(surface.volume).toBeCloseTo(12, 5);
    const from: [number, number, number] = [1e7, -1e7, 100];
    const far = { points: lattice(4, 3, 3, from), method: "alpha_shape", alpha: 2 };
    const there = await mesh({ ...far, world_shift: from });
    expect([there.f32("vertices"), there.u32("indices")]).toEqual([here.f32("vertices"), here.u32("indices")]);
    expect(there.meta).toEqual({ ...here.meta, world_shift: from });
    const coarse = await mesh(far);
    expect(coarse.meta.warnings).toEqual([expect.stringMatching(/steps of 1\.0\. Send world_shift/)]);
  });

  test("without alpha it is twice the mean spacing; a plane gives its sheet, and a warning says so", async () => {
    const { meta, f32, u32 } = await mesh({ points: SHEET, method: "alpha_shape" });
    expect(meta).toMatchObject({ alpha_m: 2, mean_spacing_m: 1, volume_m3: 0, surface_area: 15 });
    expect(measured(f32("vertices"), u32("indices")).euler).toBe(1);
  });

  test("solids that touch at an edge are cut apart there, and a warning says so", async () => {
    const prism = [0, 1, 2].flatMap((z) => [
      [2, 2, z],
      [3, 2.5, z],
      [2.5, 3, z],
    ]);
    const { meta, f32, u32 } = await mesh({
      points: [...lattice(3, 3, 3), ...prism],
      method: "alpha_shape",
      alpha: 0.9,
    });
    expect(meta.num_triangles).toBe(48 + 14);
    expect(meta.volume_m3).toBeCloseTo(8 + 2 * 0.375, 12);
    expect(meta.surface_area).toBeCloseTo(24 + 2 * 0.375 + 4 * Math.sqrt(1.25) + 2 * Math.sqrt(0.5), 12);
    expect(measured(f32("vertices"), u32("indices"))).toMatchObject({ closed: true, euler: 4 });
    expect(meta.warnings).toEqual([
      "3 points are at the place of another point and were left out.",
      "The mesh was cut at 2 edges of more than two triangles; 3 vertices were copied.",
    ]);
  });

  test("a smooth surface without noise gives its sheet, and a warning says so", async () => {
    const points = lattice(20, 20, 1).map(([x, y]) => [x + 0.3 * Math.sin(5 * y), y, 0.01 * x * x + 0.02 * y * y]);
    const { meta } = await mesh({ points, method: "alpha_shape", alpha: 1.5 });
    expect(meta.num_triangles).toBeGreaterThan(650); // 2 * 19 * 19 without the rim
    expect(meta.warnings).toEqual([expect.stringMatching(/^\d+ of the faces bound no solid at alpha 1\.50 m/)]);
  });
});

describe("points of sessions", () => {
  test("hits that are not deleted; several sessions and inline points together", async () => {
    const first = await cloud(made, rows(SHEET));
    const second = await cloud(made, rows(lattice(6, 4, 1, [0, 4, 7])));
    const misses = await lineCloud(made, [1, 1, 1], 5); // at y = 0, z = 0
    const sources = [first, second].map(({ session_id }) => ({ session_id }));
    const both = await mesh({ sources, points: [[0, 8, 7]], source: { session_id: "gone" }, method: "delaunay" });
    expect(both.meta).toMatchObject({ points_used: 49, downsampled: false });
    expect(Math.max(...both.f32("vertices"))).toBe(8);
    const moved = [...sources, { session_id: misses.session_id, translation: [0.5, -1, 0] }];
    expect((await mesh({ sources: moved, method: "delaunay" })).meta.points_used).toBe(51); // no miss
    await made.remove(first.session_id, 3, 9);
    expect((await mesh({ source: sources[0], points: SHEET, method: "delaunay" })).meta).toMatchObject({
      points_used: 18,
      surface_area: 12, // of the hull
    });
  });

  test("the crop comes before the limit of points, which is a stride", async () => {
    const { session_id } = await cloud(made, rows(lattice(20, 20, 1)));
    const crop_box = [0, 0, -1, 9, 9, 1];
    const half = await mesh({ source: { session_id, max_points: 50 }, crop_box, method: "delaunay" });
    expect(half.meta).toMatchObject({ points_used: 50, downsampled: true });
    expect(half.f32("vertices").slice(0, 9)).toEqual([0, 0, 0, 2, 0, 0, 4, 0, 0]);
    const whole = await mesh({ source: { session_id, max_points: 100 }, crop_box, method: "delaunay" });
    expect(whole.meta).toMatchObject({ points_used: 100, downsampled: false });
    const sources = [
      { session_id, max_points: 7 },
      { session_id, max_points: 400 },
    ];
    expect((await mesh({ sources, method: "delaunay" })).meta).toMatchObject({ points_used: 400, downsampled: true });
  });

  test("the world shift is added", async () => {
    const points = lattice(3, 3, 1, [450_000, 5_400_000, 10]);
    const { session_id } = await cloud(made, rows(points), { world_shift: [450_000, 5_400_000, 0] });
    const source = { session_id };
    const shift = [450_000, 5_400_000, 10];
    const { f32, meta } = await mesh({ source, method: "delaunay", world_shift: shift });
    expect(f32("vertices")).toEqual(lattice(3, 3, 1).flat());
    expect(meta.world_shift).toEqual(shift);
  });
});

test("a crop box turns about its centre", async () => {
  const cropped = (degrees: number | null) =>
    mesh({
      points: lattice(11, 11, 1),
      crop_box: [1, 4, 0, 9, 6, 0],
      crop_box_rotation_deg: degrees,
      method: "delaunay",
    }).then(({ f32 }) => {
      const x = f32("vertices").filter((_, i) => i % 3 === 0);
      const y = f32("vertices").filter((_, i) => i % 3 === 1);
      return [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    });
  expect(await cropped(null)).toEqual([1, 9, 4, 6]);
  expect(await cropped(90)).toEqual([4, 6, 1, 9]);
  expect(await cropped(-45)).toEqual([2, 8, 2, 8]);
});

describe("grid", () => {
  const grid = { center: [2, 2, 7], size: [2, 2, 2], nx: 2, ny: 1, nz: 1 };
  test("keeps and numbers the triangles of its cells; the area is theirs, the vertices stay", async () => {
    const { meta, u32, names, stages } = await mesh({ points: SHEET, grid, method: "delaunay" });
    expect(meta).toMatchObject({ num_triangles: 8, num_vertices: 24, surface_area: 4 });
    expect(names).toContain("triangle_cell_ids");
    expect([...u32("triangle_cell_ids")].sort()).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(stages.map(([at, label]) => `${at} ${label}`)).toContain("0.97 Binning into grid");
  });

  test("turns, follows terrain and drops columns", async () => {
    const ids = async (more: object) => {
      const answer = await mesh({ points: SHEET, grid: { ...grid, ...more }, method: "delaunay" });
      return answer.meta.num_triangles === 0 ? [] : [...answer.u32("triangle_cell_ids")].sort();
    };
    expect(await ids({ rotation: 180 })).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    expect(await ids({ kept_columns: [false, true] })).toEqual([1, 1, 1, 1]);
    expect(await ids({ column_offsets: [0, 5] })).toEqual([0, 0, 0, 0]);
    expect(await ids({ nx: 0 })).toEqual([0, 0, 0, 0, 0, 0, 0, 0]); // counts below 1 are 1
  });

  test("lists of a large request are read like those of a small one", async () => {
    const side = 200;
    const kept_columns = Array.from({ length: side * side }, (_, i) => i % side < 10);
    const column_offsets = kept_columns.map((_, i) => (i % side === 3 ? 99 : 0));
    const extent = [side - 1, side - 1, 2];
    const whole = { center: [(side - 1) / 2, (side - 1) / 2, 0], size: extent, nx: side, ny: side };
    const payload = { points: lattice(side, side, 1), method: "delaunay" };
    const answer = await mesh({ ...payload, grid: { ...whole, kept_columns, column_offsets } });
    const columns = new Set(answer.u32("triangle_cell_ids").map((id) => id % side));
    expect([...columns].sort((a, b) => a - b)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9]);
  });

  test("that contains no triangle: a success without triangles", async () => {
    const { meta, names } = await mesh({ points: SHEET, grid: { ...grid, center: [0, 0, 90] }, method: "delaunay" });
    expect(meta).toMatchObject({ num_triangles: 0, num_vertices: 24, surface_area: 0 });
    expect(names).not.toContain("triangle_cell_ids");
  });
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const scattered = Array.from({ length: 80_000 }, (_, i) => [(i * 7919) % 9973, (i * 104_729) % 9949, (i * 31) % 97]);
  const { session_id } = await cloud(made, rows(scattered));
  const source = { session_id };
  const grid = { center: [5000, 5000, 50], size: [10_000, 10_000, 100], nx: 10, ny: 10 };
  const before = addon.bulkBytesInUse();
  const moments = [
    ["delaunay", "delaunay"],
    ["alphaShape", "alpha_shape"],
    ["estimateNormals", "ball_pivoting"],
    ["ballPivoting", "ball_pivoting"],
    ["poissonSurface", "poisson"],
    ["cleanMesh", "delaunay"],
  ] as const;
  for (const [op, method] of moments) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op }, stop, async () => {
      const started = await openRun(made.base, TRIANGULATE, { source, method, depth: 6, grid });
      return started.outcome;
    });
    expect([op, reached, value.kind]).toEqual([op, true, "canceled"]);
    expect([op, (cancel?.().own_ms ?? Infinity) < 250]).toEqual([op, true]);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
});
