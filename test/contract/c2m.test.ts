import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { extraKey } from "../../backend/sessions/column-names.ts";
import { DistanceFailure, DistanceSuccess } from "../../shared/contract/c2m.ts";
import { run } from "../support/app/app.ts";
import { openRun } from "../support/app/live-run.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { eventually, stopwatch } from "../support/run/stopwatch.ts";
import { cubeMesh, sheetMesh } from "../support/session/mesh.ts";
import { checked, cloud, failed, lineCloud, refusal, streamed, UNKNOWN } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
const URL_ = "/api/c2m/distance";
const measure = async (payload: object) => (await streamed(made, DistanceSuccess, URL_, payload)).tail;
const failure = async (payload: object) => checked(DistanceFailure, (await failed(made, URL_, payload)).tail);

/** On a face, 3 m above a vertex, sqrt(8) from an edge, inside, sqrt(3) from a vertex. */
const POINTS = [0.5, 0.5, 1, 0, 0, 4, 3, 0.5, 3, 0.5, 0.5, 0.75, 2, 2, 2];
const DISTANCES = [0, 3, Math.sqrt(8), 0.25, Math.sqrt(3)];
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const deviation = (values: readonly number[]) => Math.sqrt(mean(values.map((value) => (value - mean(values)) ** 2)));

describe("statistics", () => {
  test("follow their definitions; the bands are shares of the points' diagonal", async () => {
    const { stages, tail } = await streamed(made, DistanceSuccess, URL_, { points: POINTS, ...cubeMesh() });
    const sorted = [...DISTANCES].sort((a, b) => a - b);
    const at = (i: number) => sorted[i] ?? Number.NaN;
    expect(tail).toMatchObject({ success: true, error: null, point_count: 5, min_distance: 0, max_distance: 3 });
    expect(tail.mean_distance).toBeCloseTo(mean(DISTANCES), 12);
    expect(tail.rmse).toBeCloseTo(Math.sqrt(mean(DISTANCES.map((d) => d * d))), 12);
    expect(tail.std_deviation).toBeCloseTo(deviation(DISTANCES), 12);
    expect(tail.median_distance).toBeCloseTo(at(2), 6);
    expect(tail.percentile_90).toBeCloseTo(at(3) + 0.6 * (at(4) - at(3)), 6);
    expect(tail.percentile_95).toBeCloseTo(at(3) + 0.8 * (at(4) - at(3)), 6);
    expect(tail.percentile_99).toBeCloseTo(at(3) + 0.96 * (at(4) - at(3)), 6);
    const diagonal = Math.hypot(3, 2, 3.25);
    for (const [i, part] of [0.001, 0.005, 0.01].entries())
      expect(tail.band_thresholds_m[i]).toBeCloseTo(part * diagonal, 12);
    expect([tail.points_within_1mm, tail.points_within_5mm, tail.points_within_10mm]).toEqual([20, 20, 20]);
    expect(tail.histogram.bin_width_m).toBeCloseTo(3 / 64, 12);
    expect(tail.histogram.counts).toHaveLength(64);
    expect(tail.histogram.counts.reduce((sum, count) => sum + count, 0)).toBe(5);
    expect([tail.histogram.counts[0], tail.histogram.counts[5], tail.histogram.counts[63]]).toEqual([1, 1, 1]);
    expect(tail).not.toHaveProperty("sign_defined");
    expect(tail).not.toHaveProperty("warnings");
    const labels = stages.map(([progress, message]) => `${progress} ${message}`);
    expect(labels).toContain("0.1 Reading points");
    expect(labels).toContain("0.5 Building raycasting scene");
    expect(labels.some((label) => /^(0\.9\d*|1) Computing distances$/.test(label))).toBe(true);
    expect(labels.at(-1)).toBe("1 Done");
  });

  test("bands count up to and with their threshold", async () => {
    // A diagonal of 100 m: 0.1, 0.5 and 1 m, each a float32 or just below one.
    const points = [0, 0, 1, 60, 80, 1, 30, 40, 1.5, 30, 40, 1.0625, 10, 10, 3];
    const mesh = sheetMesh(100, 4, 1);
    const tail = await measure({ points, ...mesh });
    expect(tail.band_thresholds_m[1]).toBeCloseTo(0.5, 3);
    expect([tail.points_within_1mm, tail.points_within_5mm, tail.points_within_10mm]).toEqual([60, 80, 80]);
  });

  test("large coordinates keep their precision", async () => {
    const offset = [450_000, 5_400_000, 120] as const;
    const far = POINTS.map((value, i) => value + (offset[i % 3] ?? 0));
    const [here, there] = [
      await measure({ points: POINTS, ...cubeMesh() }),
      await measure({ points: far, ...cubeMesh(offset) }),
    ];
    expect(there.rmse).toBeCloseTo(here.rmse, 9);
    expect(there.max_distance).toBe(3);
  });
});

test("a mesh in millimetres, and one of another place, are told", async () => {
  const { mesh_vertices, mesh_indices } = cubeMesh();
  const milli = { mesh_vertices: mesh_vertices.map((value) => 1000 * value + 5000), mesh_indices };
  const box = POINTS.map((value) => value / 2);
  expect((await measure({ points: box, ...milli })).warnings).toEqual([
    expect.stringMatching(
      /^The mesh lies .* and more from every point|^Half of the points .* as a file in millimetres/,
    ),
  ]);
  expect((await measure({ points: POINTS, ...cubeMesh([500_000, 0, 0]) })).warnings).toEqual([
    expect.stringMatching(/^The mesh lies 5e\+?0?5|^The mesh lies 500000 m and more from every point/),
  ]);
});

describe("signed", () => {
  test("a closed mesh: negative inside; the other statistics stay unsigned", async () => {
    const tail = await measure({ points: POINTS, ...cubeMesh(), signed: true });
    const signs = DISTANCES.map((distance) => (distance === 0.25 ? -distance : distance));
    expect(tail.sign_defined).toBe(true);
    expect(tail.signed_mean).toBeCloseTo(mean(signs), 12);
    expect(tail.signed_std).toBeCloseTo(deviation(signs), 12);
    expect(tail.mean_distance).toBeCloseTo(mean(DISTANCES), 12);
    expect(tail).not.toHaveProperty("warnings");
  });

  test("an open mesh has no sides, and the answer says why", async () => {
    const { mesh_vertices, mesh_indices } = cubeMesh();
    const open = { mesh_vertices, mesh_indices: mesh_indices.slice(3) };
    const tail = await measure({ points: POINTS, ...open, signed: true });
    expect(tail).toMatchObject({ sign_defined: false, signed_mean: null, signed_std: null });
    expect(tail.warnings).toEqual([expect.stringMatching(/not closed: 3 edges/)]);
  });
});

describe("points of a session", () => {
  const sheet = sheetMesh(10, 5, 2);
  test("hits that are not deleted, in true world coordinates; misses never count", async () => {
    const { session_id } = await lineCloud(made, [1, 1, 1, 1, 1], 3);
    const source = { session_id };
    expect(await measure({ source, ...sheet })).toMatchObject({ point_count: 5, min_distance: 2, max_distance: 2 });
    await made.remove(session_id, 3, 4);
    expect(await measure({ source, ...sheet })).toMatchObject({ point_count: 3, max_distance: 2 });
    const all = { ...source, include_misses: true, translation: [0, 0, 1.5] };
    expect(await measure({ source: all, ...sheet })).toMatchObject({ point_count: 3, max_distance: 0.5 });
    const few = await measure({ source: { ...source, max_points: 2 }, ...sheet });
    expect(few.point_count).toBe(2);
  });

  test("the world shift is added", async () => {
    const { session_id, world_shift } = await cloud(made, ["x y z", "450000 5400000 10", "450001 5400001 10"], {
      world_shift: [450_000, 5_400_000, 0],
    });
    expect(world_shift).toEqual([450_000, 5_400_000, 0]);
    const { mesh_vertices, mesh_indices } = sheetMesh(10, 1, 12);
    const moved = mesh_vertices.map((value, i) => value + ([450_000, 5_400_000, 0][i % 3] ?? 0));
    const tail = await measure({ source: { session_id }, mesh_vertices: moved, mesh_indices });
    expect(tail).toMatchObject({ point_count: 2, min_distance: 2, max_distance: 2 });
  });

  test("a session takes precedence over points, and is not changed", async () => {
    const { session_id } = await lineCloud(made, [1, 1]);
    const before = (await made.deps.sessions.get(session_id)).state;
    expect((await measure({ source: { session_id }, points: POINTS, ...sheet })).point_count).toBe(2);
    expect((await made.deps.sessions.get(session_id)).state).toBe(before);
  });
});

describe("bands and column", () => {
  test("shares of any thresholds, up to and with them, in the order of the request", async () => {
    const bands_m = [2, 0, 0.25, 100, 0.25];
    const { bands } = await measure({ points: POINTS, ...cubeMesh(), signed: true, bands_m });
    const share = (limit: number) => 20 * DISTANCES.filter((distance) => distance <= limit).length;
    expect(bands).toEqual(bands_m.map((limit_m) => ({ limit_m, percent: share(limit_m) })));
    expect((await measure({ points: POINTS, ...cubeMesh(), bands_m: [] })).bands).toEqual([]);
  });

  /** The values of the column, one per row; null = there is none. */
  async function column(id: string): Promise<number[] | null> {
    const { columns, meta } = (await made.deps.sessions.get(id)).state;
    const found = columns.get(extraKey("mesh_distance"));
    if (!found) return null;
    expect(meta.extra_dims_meta).toContainEqual({ slug: "mesh_distance", label: "Distance to Mesh" });
    expect(meta.octree_lacks_labels).toBe(true);
    const values = new Float32Array(found.length);
    found.native.readInto(new Uint8Array(values.buffer), 0);
    return [...values];
  }

  test("the column has the distance of each hit, negative inside, and NaN for misses and deleted points", async () => {
    const rows = ["0.5 0.5 0.75", "0.5 0.5 4", "3 0.5 0.5", "9 0 0"];
    const { session_id } = await cloud(made, ["x y z", ...rows]);
    await made.remove(session_id, 9, 9);
    const request = { source: { session_id }, ...cubeMesh(), signed: true, write_column: true };
    const tail = await measure(request);
    expect([tail.column, tail.point_count]).toEqual(["mesh_distance", 3]);
    expect(await column(session_id)).toEqual([-0.25, 3, 2, Number.NaN]);
    // Again, unsigned: the column is replaced.
    await measure({ ...request, signed: false, source: { session_id, translation: [0, 0, 1] } });
    expect(await column(session_id)).toEqual([0.75, 4, expect.closeTo(Math.sqrt(4.25), 6), Number.NaN]);
  });

  test("no column without being asked, after a failure, or for some points only", async () => {
    const { session_id } = await lineCloud(made, [1, 1]);
    const request = { source: { session_id }, ...cubeMesh() };
    expect(await measure(request)).not.toHaveProperty("column");
    await failure({ ...request, mesh_vertices: [], mesh_indices: [], write_column: true });
    const refused = async (more: object) => (await refusal(made, URL_, { ...request, ...more }))[1];
    expect(await refused({ source: null, points: POINTS, write_column: true })).toMatch(/needs a source/);
    expect(await refused({ source: { session_id, max_points: 1 }, write_column: true })).toMatch(/max_points/);
    expect(await refused({ bands_m: [1, -1] })).toMatch(/bands_m has -1/);
    expect(await refused({ bands_m: Array(101).fill(1) })).toMatch(/101 distances, more than 100/);
    expect(await column(session_id)).toBeNull();
  });
});

test("inline sky points are left out, and the answer says so", async () => {
  const near = Array.from({ length: 40 }, (_, i) => [i * 0.1, 1, 1]).flat();
  const tail = await measure({ points: [...near, 0, 0, 1001, 5, 0, 1001], ...sheetMesh(10, 2, 0) });
  expect(tail).toMatchObject({ point_count: 40, max_distance: 1 });
  expect(tail.warnings).toEqual([expect.stringMatching(/^2 points lie far/)]);
});

test("an unknown key is named, also by a failure", async () => {
  const named = [expect.stringContaining('"sigend"')];
  expect((await measure({ points: POINTS, ...cubeMesh(), sigend: true })).warnings).toEqual(named);
  expect((await failure({ ...cubeMesh(), sigend: true })).warnings).toEqual(named);
});

describe("failures", () => {
  test.each([
    ["no points", { ...cubeMesh() }, "No points provided"],
    ["an empty list", { points: [], ...cubeMesh() }, "No points provided"],
    ["no triangles", { points: POINTS, mesh_vertices: [0, 0, 0], mesh_indices: [] }, "No mesh data provided"],
    ["no mesh", { points: POINTS, mesh_vertices: [], mesh_indices: [] }, "No mesh data provided"],
  ])("%s: an error in the tail", async (_name, payload, error) => {
    expect(await failure(payload)).toEqual({ success: false, error, code: "invalid_argument" });
  });

  test("points that cannot be measured", async () => {
    const { error } = await failure({ points: [1e16, 0, 0], ...cubeMesh() });
    expect(error).toBe("C2M distance computation failed: none of the points has finite coordinates");
  });

  test("a session without hits has no points", async () => {
    const { session_id } = await lineCloud(made, [1, 1]);
    await made.remove(session_id, 0, 1);
    expect((await failure({ source: { session_id }, ...cubeMesh() })).error).toBe("No points provided");
  });
});

describe("refusals before the stream", () => {
  const { mesh_vertices, mesh_indices } = cubeMesh();
  test.each<[string, object, number, string | RegExp]>([
    ["an unknown session", { source: { session_id: "00000000" }, ...cubeMesh() }, ...UNKNOWN],
    ["a source without a session", { source: {}, ...cubeMesh() }, 400, /neither a session_id/],
    ["a translation of two", { source: { session_id: "S", translation: [1, 2] }, ...cubeMesh() }, 400, /translation/],
    ["points that are no triples", { points: [1, 2], ...cubeMesh() }, 400, /points has 2 numbers/],
    ["indices that are no triples", { mesh_vertices, mesh_indices: [0, 1] }, 400, /mesh_indices has 2 numbers/],
    ["vertices that are no triples", { mesh_vertices: [0, 1], mesh_indices }, 400, /mesh_vertices has 2 numbers/],
    [
      "an index too high",
      { mesh_vertices, mesh_indices: [0, 1, 8] },
      400,
      /^mesh_indices\[2\] is 8, not the number of one of the 8/,
    ],
    ["an index below 0", { mesh_vertices, mesh_indices: [0, -1, 2] }, 400, /^mesh_indices\[1\] is -1/],
    ["half an index", { mesh_vertices, mesh_indices: [0, 0.5, 2] }, 400, /^mesh_indices\[1\] is 0\.5/],
  ])("%s", async (_name, payload, status, detail) => {
    const { session_id } = await lineCloud(made, [1]);
    const body = JSON.parse(JSON.stringify({ points: POINTS, ...payload }).replace('"S"', JSON.stringify(session_id)));
    expect(await refusal(made, URL_, body as object)).toEqual([
      status,
      typeof detail === "string" ? detail : expect.stringMatching(detail),
    ]);
  });

  test("a mesh is required: 422", async () => {
    const [status] = await refusal(made, URL_, { points: POINTS });
    expect(status).toBe(422);
  });
});

test("a run that is canceled ends within 250 ms and leaves no memory behind", async () => {
  const mesh = sheetMesh(100, 400, 0); // 320,000 triangles
  const points = Array.from({ length: 600_000 }, (_, i) => ((i * 7919) % 99_991) * 1e-3);
  const { session_id } = await lineCloud(made, [1]); // memory that stays
  const before = addon.bulkBytesInUse();
  for (const phase of ["Building raycasting scene", "Computing distances"]) {
    let cancel: ReturnType<typeof stopwatch> | undefined;
    const stop = () => {
      cancel = stopwatch();
      made.deps.jobs.cancelAll();
    };
    const { value, reached } = await atMoment({ op: "pointToMeshDistance", phase }, stop, async () => {
      const started = await openRun(made.base, URL_, { points, ...mesh });
      return started.outcome;
    });
    expect([phase, reached, value.kind]).toEqual([phase, true, "canceled"]);
    expect(cancel?.().own_ms).toBeLessThan(250);
    await eventually(() => expect(addon.bulkBytesInUse()).toBe(before));
  }
  expect((await run(made, URL_, { source: { session_id }, ...cubeMesh() })).outcome.kind).toBe("json");
});
