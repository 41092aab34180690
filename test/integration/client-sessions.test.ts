import { beforeAll, describe, expect, test, vi } from "vitest";
import type { Job } from "../../backend/jobs/job.ts";
import { CanceledError, type Client, createClient, type RunProgress } from "../../shared/client/index.ts";
import { scanFile } from "../support/app/app.ts";
import { eventually } from "../support/run/stopwatch.ts";
import { EXPECTED, NOISY, rowsOf, STRAYS } from "../support/scans/noisy-cloud.ts";
import { canceledAmid, slab, stateOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest({ listening: true });
let client: Client;
beforeAll(async () => {
  client = createClient({ baseUrl: made.base });
});

/** Hits at x = 0 to 4 with classes 0, 1, 1, 2, 2. */
async function five(): Promise<string> {
  const rows = ["x y z class", "0 0 0 0", "1 0 0 1", "2 0 0 1", "3 0 0 2", "4 0 0 2"];
  const { session_id } = await client.createSession({ source_path: scanFile(made, rows) });
  return session_id;
}
const paint = (id: string) =>
  client.labelRegion(id, { strokes: [{ stroke_id: "a", region: slab(0, 1), to_class: 7 }] });

describe("every edit once, over a socket", () => {
  test("listSessions", async () => {
    const id = await five();
    expect((await client.listSessions()).sessions).toMatchObject([{ session_id: id, state: "ready", total_count: 5 }]);
  });

  test("deleteRegion, resetEdits", async () => {
    const id = await five();
    expect(await client.deleteRegion(id, { region: slab(0, 1) })).toMatchObject({ deleted_count: 2 });
    expect(await client.resetEdits(id)).toMatchObject({ deleted_count: 0 });
    await client.deleteRegion(id, { region: slab(0, 1) });
    expect(await client.resetEdits(id, { edit_count: 1 })).toMatchObject({ deleted_count: 2 });
  });

  test("labelRegion, labelSummary, resetLabelEdits, commitLabels", async () => {
    const id = await five();
    expect(await paint(id)).toMatchObject({ created_column: true, class_counts: { 0: 3, 7: 2 } });
    expect(await client.labelSummary(id)).toMatchObject({ slug: "manual_class", class_counts: { 0: 3, 7: 2 } });
    expect(await client.labelSummary(id, "class")).toMatchObject({ class_counts: { 0: 1, 1: 2, 2: 2 } });
    expect(await client.labelSummary(id, "a&b c")).toMatchObject({ slug: "a&b c", class_counts: { 0: 5 } });
    expect(await client.resetLabelEdits(id)).toMatchObject({ class_counts: { 0: 5 } });
    await paint(id);
    expect(await client.commitLabels(id)).toMatchObject({ class_counts: { 0: 3, 7: 2 }, point_count: 5 });
  });

  test("bake with and without compaction, with progress", async () => {
    const id = await five();
    await client.deleteRegion(id, { region: slab(0, 0) });
    const seen: RunProgress[] = [];
    expect(await client.bake(id, { compact: false }, { onProgress: (step) => seen.push(step) })).toMatchObject({
      baked: true,
      point_count: 4,
    });
    expect(seen.map(({ message }) => message)).toContain("Building octree");
    expect((await stateOf(made, id)).columns.has("deleted")).toBe(true);
    expect(await client.bake(id)).toMatchObject({ baked: true });
    expect((await stateOf(made, id)).columns.has("deleted")).toBe(false);
  });

  test("filter, split, extract, extractByColumn, duplicate, merge", async () => {
    const id = await five();
    expect(await client.filter(id, { region: slab(0, 3) })).toMatchObject({ rebuilt: true, point_count: 4 });
    const { kept, leftover } = await client.split(id, { scalar_filters: [{ slug: "class", max: 1 }] });
    expect([kept.point_count, leftover?.point_count]).toEqual([3, 1]);
    const { extracted } = await client.extract(id, { region: slab(0, 1) });
    expect(extracted?.point_count).toBe(2);
    const { children } = await client.extractByColumn(id, { slug: "class", exclude_values: [] });
    expect(children.map(({ value, point_count }) => [value, point_count])).toEqual([
      [0, 1],
      [1, 2],
    ]);
    const { duplicate } = await client.duplicate(id);
    const { merged } = await client.merge({ session_ids: [id, duplicate.session_id] });
    expect([duplicate.point_count, merged.point_count]).toEqual([3, 6]);
  });

  test("transform, rebuildOctree", async () => {
    const id = await five();
    const matrix = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    expect(await client.transform(id, { matrix, octree_mode: "pose" })).toMatchObject({ octree_posed: true });
    expect(await client.rebuildOctree(id)).toMatchObject({ octree_posed: false, point_count: 5 });
  });

  test("denoiseSession, sessionDem", async () => {
    const source_path = made.file("noisy.txt", ["x y z", ...rowsOf(NOISY)].join("\n"));
    const { session_id: id } = await client.createSession({ source_path });
    expect(await client.denoiseSession(id)).toMatchObject({ flagged: STRAYS, method: "ror" });
    const { meta, buffers } = await client.sessionDem(id, { add_height_column: true, auto_segment_ground: false });
    expect(meta).toMatchObject({ success: true, surface_type: "dtm", ground_source: "all_points" });
    expect(buffers.get("grid_z")).toHaveLength(meta.grid_nx * meta.grid_ny);
    expect((await stateOf(made, id)).columns.has("extra/height_above_ground")).toBe(true);
    const fine = client.sessionDem(id, { cell_size: 1e-6 });
    await expect(fine).rejects.toMatchObject({
      name: "ApiError",
      code: "invalid_argument",
      message: expect.stringMatching(/cells/),
    });
  });

  test("a refusal before the run has its status and message", async () => {
    const id = await five();
    const wrong = client.filter(id, { scalar_filters: [{ slug: "clas" }] });
    await expect(wrong).rejects.toMatchObject({
      name: "ApiError",
      status: 400,
      message: "Unknown scalar attribute: 'clas'. Available: [class]",
    });
    await expect(client.split("00000000", { region: slab(0, 1) })).rejects.toMatchObject({ status: 404 });
  });
});

test("meshDistance: lists, typed arrays as a frame, and a failure", async () => {
  const mesh = { mesh_vertices: [0, 0, 0, 9, 0, 0, 0, 9, 0], mesh_indices: [0, 1, 2] };
  const told = await client.meshDistance({ points: [1, 1, 2, 1, 1, 4], ...mesh });
  expect(told).toMatchObject({ success: true, mean_distance: 3, point_count: 2 });
  const arrays = {
    points: Float32Array.of(1, 1, 2, 1, 1, 4),
    mesh_vertices: Float32Array.from(mesh.mesh_vertices),
    mesh_indices: Uint32Array.from(mesh.mesh_indices),
  };
  expect(await client.meshDistance(arrays)).toEqual(told);
  const shifted = client.meshDistance({ ...arrays, frame_origin: [1, 2, 3] });
  await expect(shifted).rejects.toMatchObject({ status: 400, message: expect.stringMatching(/meta\.origin/) });
  await expect(client.meshDistance({ ...mesh })).rejects.toMatchObject({ status: 200, message: "No points provided" });
});

test("triangulate: lists, typed arrays with an origin, and a failure", async () => {
  const square = [
    [0, 0, 1],
    [2, 0, 1],
    [2, 2, 1],
    [0, 2, 1],
  ] as [number, number, number][];
  const { meta, buffers } = await client.triangulate({ points: square, method: "delaunay" });
  expect(meta).toMatchObject({ num_triangles: 2, surface_area: 4, points_used: 4 });
  const shifted = {
    points: Float32Array.from(square.flat()),
    frame_origin: [1e7, 0, 0],
    world_shift: [1e7, 0, 0],
  } as const;
  const there = await client.triangulate({ ...shifted, world_shift: [...shifted.world_shift], method: "delaunay" });
  expect(there.buffers.get("vertices")).toEqual(buffers.get("vertices"));
  const unknown = client.triangulate({ points: square, method: "magic" as "delaunay" });
  await expect(unknown).rejects.toMatchObject({
    status: 200,
    message: expect.stringContaining("alpha_shape or delaunay"),
  });
});

test("triangulateScans and checkSpacing: a sphere of directions, and failures", async () => {
  const points = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [i & 1, (i >> 1) & 1, i >> 2] as [number, number, number]);
  const scans = [{ origin: [0.5, 0.5, 0.5], points }];
  const { meta, buffers } = await client.triangulateScans({ scans, lmax: 2 });
  expect(meta).toMatchObject({ num_triangles: 12, num_vertices: 8, grid_warning: true });
  expect(buffers.get("triangle_cell_ids")).toEqual(new Uint32Array(12));
  expect(await client.checkSpacing({ scans, lmax: 3 })).toMatchObject({ median_spacing: 1, likely_bridging: true });
  await expect(client.triangulateScans({ scans, lmax: 0.5 })).rejects.toMatchObject({
    status: 200,
    message: expect.stringContaining("Lmax 0.5"),
  });
  expect(await client.checkSpacing({ scans: [{ origin: [0, 0, 0], points: [] }] })).toMatchObject({
    success: false,
    error: expect.stringContaining("no points"),
  });
});

test("registration: lists, typed arrays as a frame, and a failure", async () => {
  const target_points = Array.from({ length: 1200 }, (_, i) => [(i / 3) % 20, i / 60, i % 7 === 0 ? 2 : 0][i % 3] ?? 0);
  const source_points = target_points.map((value, i) => value + ([0.5, -0.25, 0.125][i % 3] ?? 0));
  const told = await client.cloudRegister({ target_points, source_points });
  for (const [i, shift] of [0.5, -0.25, 0.125].entries()) expect(told.translation[i]).toBeCloseTo(-shift, 6);
  const arrays = { target_points: Float32Array.from(target_points), source_points: Float32Array.from(source_points) };
  const framed = await client.cloudRegister({ ...arrays, method: "point_to_plane" });
  expect(framed).toMatchObject({ method: "point_to_plane", fitness: 1 });
  const mesh = { mesh_vertices: [0, 0, 0, 9, 0, 0, 0, 9, 4, 9, 9, 0], mesh_indices: [0, 1, 2, 1, 3, 2] };
  expect((await client.meshRegister({ points: target_points, ...mesh })).transformation_matrix).toHaveLength(16);
  const target = { target_vertices: mesh.mesh_vertices, target_indices: mesh.mesh_indices };
  const source = {
    source_vertices: Float32Array.from(mesh.mesh_vertices),
    source_indices: Uint32Array.of(0, 1, 2, 1, 3, 2),
  };
  expect((await client.meshPairRegister({ ...target, ...source })).rmse).toBeLessThan(1e-9);
  const none = client.cloudRegister({ target_points });
  await expect(none).rejects.toMatchObject({ status: 200, message: "No source points provided" });
});

test("importMesh: a frame, and a failure in it", async () => {
  const { meta, buffers } = await client.importMesh({
    path: made.file("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
  });
  expect(meta).toMatchObject({ triangle_count: 1, filename: "a.obj" });
  expect(buffers.get("indices")).toEqual(Uint32Array.of(0, 1, 2));
  const empty = client.importMesh({ path: made.file("b.obj", "v 0 0 0\n") });
  await expect(empty).rejects.toMatchObject({ status: 200, code: "invalid_file" });
});

test("fitCrown: the crown of a session, and a failure", async () => {
  const corners = Array.from({ length: 8 }, (_, i) => `${i & 1} ${(i >> 1) & 1} ${(i >> 2) & 1}`);
  const { session_id } = await client.createSession({ source_path: scanFile(made, ["x y z", ...corners]) });
  const { crowns } = await client.fitCrown({ source: { session_id }, shape: "ellipsoid", strictness: 0 });
  expect(crowns.map((crown) => crown.metrics.num_points_used)).toEqual([8]);
  const none = client.fitCrown({ source: { session_id, max_points: 2 }, shape: "cone" });
  await expect(none).rejects.toMatchObject({ status: 200, message: "No crown could be fitted" });
});

test("flat clouds: denoise, dem, exportRaster, snapGrid", async () => {
  expect(await client.denoise({ points: NOISY })).toMatchObject({ success: true, labels: EXPECTED });
  const { meta } = await client.dem({ points: NOISY, auto_segment_ground: false });
  expect(meta).toMatchObject({ success: true, ground_source: "all_points" });
  const raster = { grid_z: [1, 2], nx: 2, ny: 1, cell_size: 1, origin: [0, 0] as [number, number] };
  expect((await client.exportRaster(raster)).data_base64).toMatch(/^bmNvbHMg/); // "ncols "
  const grid = { center: [1, 0.5, 1] as [number, number, number], size: [2, 1, 2] as [number, number, number] };
  const dem = { grid_z: [3, 4], nx: 2, ny: 1, cell: 1, origin: [0, 0] as [number, number] };
  expect(await client.snapGrid({ grid, dem, safety_fraction: 0 })).toMatchObject({ column_offsets: [4] });
});

test("the signal cancels an edit, streamed or not, and nothing changes", async () => {
  const id = await five();
  const before = await stateOf(made, id);
  const region = slab(0, 1);
  const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
    (signal: AbortSignal) => client.filter(id, { region }, { signal }),
    (signal: AbortSignal) => client.split(id, { region }, { signal }),
  ];
  for (const call of calls) {
    const abort = new AbortController();
    const stop = async (job: Job) => {
      abort.abort();
      await eventually(() => expect(job.canceled).toBe(true));
    };
    const ended = canceledAmid(made, "octreeContentHash", () => call(abort.signal), stop);
    await expect(ended).rejects.toBeInstanceOf(CanceledError);
    await made.deps.jobs.idle();
    expect(await stateOf(made, id)).toBe(before);
  }
});

test("how long the client waits for data", async () => {
  const waits: (number | undefined)[] = [];
  const clock = vi.spyOn(globalThis, "setTimeout").mockImplementation(((_: () => void, ms?: number) => {
    waits.push(ms);
    return 0 as unknown as NodeJS.Timeout;
  }) as typeof setTimeout);
  try {
    const silent = createClient({
      baseUrl: "http://nowhere",
      fetch: () => Promise.reject(new TypeError("no network")),
    });
    const first = async (call: () => Promise<unknown>) => {
      waits.length = 0;
      await call().catch(() => undefined);
      return waits[0];
    };
    const minutes = (n: number) => n * 60_000;
    expect(await first(() => silent.transform("s", { matrix: [] }))).toBe(minutes(5));
    expect(await first(() => silent.split("s", {}))).toBe(minutes(5));
    expect(await first(() => silent.deleteRegion("s", { region: slab(0, 1) }))).toBe(minutes(5));
    expect(await first(() => silent.rebuildOctree("s"))).toBe(minutes(10));
    expect(await first(() => silent.bake("s"))).toBe(minutes(10));
    expect(await first(() => silent.merge({ session_ids: [] }))).toBe(minutes(10));
  } finally {
    clock.mockRestore();
  }
});
