import { describe, expect, test } from "vitest";
import { boxOf, dem, failedDem, gridPoints, type Point } from "../support/session/dem.ts";
import { cloud, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const URL_ = "/api/dem";
const flat = (body: object) =>
  dem(made, URL_, { cell_size: 1, bbox: boxOf(6, 4), auto_segment_ground: false, ...body });
const rounded = (list: readonly number[]) => list.map((value) => Math.round(value * 1e4) / 1e4);

describe("DTM", () => {
  const plane = gridPoints(6, 4, (x, y) => 10 - x + 0 * y); // falls to the east
  test("mesh, grid, layers and meta of a plane that falls to the east", async () => {
    const answer = await flat({ points: plane, ground_labels: plane.map(() => 1) });
    expect(answer.meta).toMatchObject({
      success: true,
      surface_type: "dtm",
      method_used: "dem_tin",
      num_vertices: 24,
      num_triangles: 30,
      points_used: 24,
      grid_nx: 6,
      grid_ny: 4,
      grid_cell: 1,
      grid_origin: [0, 0],
      voids: 0,
      ground_source: "column",
      world_shift: [0, 0, 0],
    });
    expect(answer.meta).not.toHaveProperty("crs_epsg");
    expect(answer.meta.surface_area).toBeCloseTo(15 * Math.SQRT2, 6);
    expect(answer.names).toEqual([
      "vertices",
      "indices",
      "normals",
      "grid_z",
      ...["elevation", "hillshade", "slope", "aspect", "point_density", "return_density"].flatMap((name) => [
        `layer_grid_${name}`,
        `layer_vert_${name}`,
      ]),
    ]);
    expect(answer.f32("grid_z")).toEqual(plane.map(([, , z]) => z));
    expect(answer.f32("vertices").slice(0, 6)).toEqual([0.5, 0.5, 9.5, 1.5, 0.5, 8.5]);
    expect(answer.u32("indices").slice(0, 6)).toEqual([0, 1, 7, 0, 7, 6]);
    expect(rounded(answer.f32("normals").slice(0, 3))).toEqual(rounded([Math.SQRT1_2, 0, Math.SQRT1_2]));
    expect(rounded(answer.f32("layer_grid_aspect"))).toEqual(Array(24).fill(90));
    expect(rounded(answer.f32("layer_vert_slope"))).toEqual(Array(24).fill(45));
    expect(answer.meta.layers?.slope).toEqual({ min: 45, max: 45, label: "Slope (°)" });
    expect(answer.meta.layers?.point_density).toEqual({ min: 1, max: 1, label: "Point density" });
    const stages = answer.stages.map(([, message]) => message).filter((message, i, all) => all.indexOf(message) === i);
    expect(stages).toEqual([
      "",
      "Extracting ground points (CSF)",
      "Gridding terrain (DTM)",
      "Computing layers",
      "Packing DEM",
    ]);
  });
  test("percentile, intensity and returns of a cell with many points", async () => {
    const many: Point[] = gridPoints(3, 3, () => 0).flatMap(([x, y]): Point[] => [
      [x, y, 3],
      [x, y, 1],
      [x, y, 2],
    ]);
    const body = {
      points: many,
      bbox: boxOf(3, 3),
      intensity: many.map((_, i) => (i % 3) / 2),
      first_return_labels: many.map((_, i) => i % 3),
    };
    expect(new Set((await flat({ ...body, ground_percentile: 49 })).f32("grid_z"))).toEqual(new Set([1]));
    const half = await flat({ ...body, ground_percentile: 50 });
    expect(new Set(half.f32("grid_z"))).toEqual(new Set([2]));
    expect(half.f32("layer_grid_intensity")).toEqual(Array(9).fill(0.5));
    expect(half.f32("layer_grid_point_density")).toEqual(Array(9).fill(3));
    expect(half.f32("layer_grid_return_density")).toEqual(Array(9).fill(1));
    expect(new Set((await flat({ ...body, ground_percentile: 400 })).f32("grid_z"))).toEqual(new Set([3]));
    const top = await flat({ ...body, surface_type: "DSM" }); // first returns alone: those of z 3
    expect(new Set(top.f32("grid_z"))).toEqual(new Set([3]));
    expect(top.meta).toMatchObject({ surface_type: "dsm", surface_source: "first_return" });
    expect(top.meta).not.toHaveProperty("layers");
    expect(top.meta).not.toHaveProperty("ground_source");
    expect(top.names).toEqual(["vertices", "indices", "normals", "grid_z"]);
    const short = await flat({ ...body, surface_type: "dsm", first_return_labels: [0, 1] }); // another length: absent
    expect(short.meta.surface_source).toBe("all_points");
  });
  test("height above ground of every point", async () => {
    const points: Point[] = [...plane, [2.5, 1.5, 20], [3.5, 2.5, 6.5]];
    const labels = points.map((_, i) => (i < plane.length ? 1 : 2));
    const answer = await flat({ points, ground_labels: labels, compute_height_above_ground: true });
    expect(rounded(answer.f32("hag"))).toEqual([...Array(24).fill(0), 12.5, 0]);
    expect((await flat({ points, surface_type: "dsm", compute_height_above_ground: true })).names).not.toContain("hag");
  });
  test.each([
    ["tin", "dem_tin"],
    ["linear", "dem_linear"],
    ["nearest", "dem_nearest"],
    ["idw", "dem_idw"],
    ["IDW", "dem_idw"],
  ])("method %s: inside the hull, voids outside", async (method, method_used) => {
    const points = plane.filter(([x, y]) => x < 4 && !(x === 1.5 && y === 1.5));
    const answer = await flat({ points, method });
    expect(answer.meta).toMatchObject({ method_used, points_used: 15, voids: 8, ground_source: "all_points" });
    expect(answer.meta.warning).toBe("The terrain is computed from all points: there is no ground class.");
    const z = answer.f32("grid_z")[6 + 1] as number;
    if (method === "nearest") expect([7.5, 8.5, 9.5]).toContain(z);
    else expect(z).toBeCloseTo(8.5, method.toLowerCase() === "idw" ? 0 : 6);
    expect(answer.f32("grid_z")[5]).toBeNaN();
  });
  test("fill_voids fills cells that contain a return, ground or not", async () => {
    const points: Point[] = gridPoints(6, 4, (x) => (x < 4 ? 1 : 9)).filter(([x]) => x < 5);
    const ground_labels = points.map(([x]) => (x < 4 ? 1 : 2));
    expect((await flat({ points, ground_labels })).meta.voids).toBe(8);
    const filled = await flat({ points, ground_labels, fill_voids: true });
    expect(filled.meta.voids).toBe(4);
    expect(filled.f32("grid_z").slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
  });
  test("a cell_size of null or 0 is 1/256 of the extent", async () => {
    for (const cell_size of [null, 0]) {
      const { meta } = await flat({ points: gridPoints(40, 10, () => 1), bbox: null, cell_size });
      expect(meta).toMatchObject({ grid_nx: 256, grid_ny: 60, grid_cell: 39 / 256, grid_origin: [0.5, 0.5] });
    }
  });
});

describe("ground", () => {
  /** Rolling ground with a canopy over a half of it. */
  const forest: Point[] = Array.from({ length: 4000 }, (_, i) => {
    const x = (i * 0.754877666) % 1;
    const y = (i * 0.569840291) % 1;
    const ground = 2 * Math.sin(x * 4);
    return [40 * x, 40 * y, i % 4 === 0 && x > 0.5 ? ground + 12 : ground];
  });
  test("is detected by the cloth simulation if there are no labels", async () => {
    const answer = await dem(made, URL_, { points: forest, cell_size: 1 });
    expect(answer.meta.ground_source).toBe("csf_auto");
    expect(answer.meta).not.toHaveProperty("warning");
    expect(answer.meta.layers?.elevation?.max).toBeLessThan(3);
  });
  test("labels with too few ground points are not replaced by a guess", async () => {
    const labels = forest.map((_, i) => (i < 2 ? 1 : 2));
    const { meta } = await dem(made, URL_, { points: forest, ground_labels: labels, cell_size: 1 });
    expect(meta.ground_source).toBe("all_points");
    expect(meta.warning).toBe(
      "The terrain is computed from all points: the labels mark 2 ground points, fewer than 3.",
    );
    const other = await dem(made, URL_, { points: forest, ground_labels: [1], cell_size: 1 }); // another length: absent
    expect(other.meta.ground_source).toBe("csf_auto");
  });
  test("a terrain of all points is not said to lie below the ground's returns", async () => {
    const points = Array.from({ length: 4000 }, (_, i) => [
      (8 * i * 0.7548776662) % 8,
      (8 * i * 0.5698402909) % 8,
      i % 4 === 0 ? 0 : 0.3,
    ]);
    const told = async (more: object) => {
      const { meta } = await dem(made, URL_, { points, cell_size: 1, ...more });
      return [meta.ground_source, (meta.warnings ?? []).some((text) => text.startsWith("Half of the ground's"))];
    };
    expect(await told({ auto_segment_ground: false })).toEqual(["all_points", false]);
    expect(await told({ ground_labels: points.map(() => 1) })).toEqual(["column", true]);
  });
  test("if the ground filter cannot run, all points are used, with a warning", async () => {
    const { meta } = await flat({ points: gridPoints(3, 3, () => 1), bbox: boxOf(3, 3), auto_segment_ground: true });
    expect(meta.ground_source).toBe("all_points");
    expect(meta.warning).toContain("the ground filter cannot run");
  });
  test("canopy height is relative to the terrain and never below 0", async () => {
    const body = {
      points: forest,
      cell_size: 1,
      ground_labels: forest.map(([x, , z]) => (z < 2 * Math.sin(x / 10) + 6 ? 1 : 2)),
    };
    const chm = await dem(made, URL_, { ...body, surface_type: "chm" });
    expect(chm.meta).toMatchObject({
      surface_type: "chm",
      method_used: "dem_chm",
      ground_source: "column",
      surface_source: "all_points",
    });
    const heights = chm.f32("grid_z").filter((h) => !Number.isNaN(h));
    expect(heights.length).toBe(chm.meta.points_used);
    expect(chm.meta.voids).toBe(1600 - heights.length);
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...heights)).toBeGreaterThan(11);
    const z = chm.f32("vertices").filter((_, i) => i % 3 === 2);
    expect(Math.max(...z)).toBeGreaterThan(12);
    const messages = chm.stages.map(([, message]) => message);
    for (const stage of ["Gridding ground (DTM)", "Gridding surface (DSM)", "Subtracting DSM − DTM"])
      expect(messages).toContain(stage);
  });
});

describe("failures reported in the frame", () => {
  const square = gridPoints(3, 3, () => 1);
  test.each([
    [{ surface_type: "dtn" }, 'Unknown surface type: "dtn". Use dtm, dsm or chm.', "dem_tin"],
    [{ method: "kriging" }, 'Unknown method: "kriging". Use tin, linear, nearest or idw.', "dem_kriging"],
    [{ points: square.slice(0, 2) }, "A DEM needs at least three points.", "dem_tin"],
    [{ points: [] }, "A DEM needs at least three points.", "dem_tin"],
    [
      { points: [square[0], square[0], square[0]] },
      "The points have no horizontal extent (0 x 0 m): a DEM needs points at different x or y.",
      "dem_tin",
    ],
    [
      { cell_size: 0.0005 },
      "cell_size 0.0005 m makes 4000 x 4000 = 16000000 cells, but the limit is 4000000; use a larger cell size.",
      "dem_tin",
    ],
    [
      { bbox: [2, 0, 0, 2] },
      "bbox [2, 0, 0, 2] has no area: send [min x, min y, max x, max y] with each minimum below its maximum.",
      "dem_tin",
    ],
    [
      { bbox: [10, 10, 12, 12] },
      "Only 0 of 2 x 2 cells of 1 m contain points, but a DEM needs at least 3; use another cell size or bbox.",
      "dem_tin",
    ],
    [
      { cell_size: 5, surface_type: "chm" },
      "Only 1 of 1 x 1 cells of 5 m contain points, but a DEM needs at least 3; use another cell size.",
      "dem_chm",
    ],
    [
      {
        points: [
          [0, 0, 1],
          [3, 0, 1],
          [9, 0, 1],
        ],
      },
      "No surface: no block of 2 x 2 cells of 1 m has values; use a larger cell size or fill_voids.",
      "dem_tin",
    ],
  ])("%j", async (body, error, method_used) => {
    const request = { points: square, cell_size: 1, auto_segment_ground: false, ...body };
    expect(await failedDem(made, URL_, request)).toEqual({
      success: false,
      error,
      code: "invalid_argument",
      method_used,
      num_vertices: 0,
      num_triangles: 0,
    });
  });
  test("the largest admissible grid is computed", async () => {
    const { meta } = await dem(made, URL_, { points: square, cell_size: 0.001, auto_segment_ground: false });
    expect(meta.grid_nx * meta.grid_ny).toBe(4_000_000);
    expect(meta.voids).toBe(0);
  });
});

describe("requests rejected before the stream", () => {
  test.each([
    [{}, 400, "Send points or a source descriptor."],
    [{ points: null }, 400, "Send points or a source descriptor."],
    [{ source: { session_id: "00000000" } }, 404, "Cloud session not found: 00000000"],
    [{ source: {} }, 400, "the source has neither a session_id nor a source_path"],
  ])("%j", async (body, status, sentence) => {
    expect(await refusal(made, URL_, body)).toEqual([status, sentence]);
  });
  test("schema violations are rejected", async () => {
    for (const body of [{ points: [[1, 2]] }, { points: [], ground_labels: ["a"] }, { points: [], cell_size: "1" }])
      expect((await refusal(made, URL_, body))[0]).toBe(422);
  });
});

test("a source returns true world coordinates and uses the labels of its session", async () => {
  const rows = gridPoints(5, 5, (x) => x).map(([x, y, z]) => `${500000 + x} ${4000000 + y} ${z} 1 0`);
  const { session_id } = await cloud(
    made,
    ["x y z ground_class is_miss", ...rows, "500002 4000002 1 2 0", "500002.5 4000900 900 1 1"],
    { world_shift: [500000, 4000000, 0] },
  );
  const { meta, f32 } = await dem(made, URL_, {
    source: { session_id, translation: [10, 0, 0] },
    cell_size: 1,
    bbox: [500010, 4000000, 500015, 4000005],
    compute_height_above_ground: true,
  });
  expect(meta).toMatchObject({ ground_source: "column", world_shift: [0, 0, 0], grid_origin: [500010, 4000000] });
  expect(meta.voids).toBe(0);
  expect(f32("hag").length).toBe(26);
  expect(f32("vertices").slice(0, 3)).toEqual([500010.5, 4000000.5, 0.5]);
});

test("unknown keys are named in the warnings", async () => {
  const { meta } = await flat({ points: gridPoints(3, 3, () => 1), cellsize: 1 });
  expect(meta.warnings).toEqual(['The request has keys that mean nothing here and were ignored: "cellsize".']);
});

test("height above ground for another surface is ignored with a warning", async () => {
  const { meta, names } = await flat({
    points: gridPoints(3, 3, () => 1),
    surface_type: "dsm",
    compute_height_above_ground: true,
  });
  expect(meta.warnings).toEqual(["compute_height_above_ground belongs to surface_type dtm; it was ignored for dsm."]);
  expect(names).not.toContain("hag");
});

test("a warning is given if float32 moves vertices by half a cell, but not for cells of a metre", async () => {
  const at = (east: number) => gridPoints(3, 3, () => 1).map(([x, y, z]): Point => [x + east, y, z]);
  const near = await dem(made, URL_, { points: at(60_000), cell_size: 1, auto_segment_ground: false });
  expect(near.meta).not.toHaveProperty("warnings");
  const far = await dem(made, URL_, { points: at(10_000_000), cell_size: 1, auto_segment_ground: false });
  expect(far.meta.warnings).toEqual([
    "At coordinates up to 10000003 m, the 32-bit vertices of the mesh have steps of 1 m, with cells of 1 m. grid_z with grid_origin is not affected; for an exact mesh, work nearer to the origin (world_shift of a session).",
  ]);
});

test("points may have any order and position", async () => {
  const points = Array.from({ length: 900 }, (_, i): Point => {
    const x = (i * 0.754877666) % 1;
    const y = (i * 0.569840291) % 1;
    return [20 * x, 20 * y, Math.sin(9 * x) + y];
  });
  const body = { bbox: [0, 0, 20, 20], cell_size: 0.5 };
  const one = await flat({ ...body, points });
  const back = await flat({ ...body, points: [...points].reverse() });
  expect(back.f32("grid_z")).toEqual(one.f32("grid_z"));
  const far = points.map(([x, y, z]): Point => [x + 2 ** 20, y - 2 ** 20, z]);
  const moved = { points: far, cell_size: 0.5, bbox: [2 ** 20, -(2 ** 20), 2 ** 20 + 20, 20 - 2 ** 20] };
  const plain = { slope_correction: false };
  expect((await flat({ ...moved, ...plain })).f32("grid_z")).toEqual(
    (await flat({ ...body, ...plain, points })).f32("grid_z"),
  );
  const there = (await flat(moved)).f32("grid_z");
  const here = one.f32("grid_z");
  expect(there.map(Number.isNaN)).toEqual(here.map(Number.isNaN));
  const gaps = there.map((z, c) => Math.abs(z - (here[c] as number)) || 0);
  expect(Math.max(...gaps)).toBeLessThan(1e-6); // places come in steps of 2^-24 of a cell
});
