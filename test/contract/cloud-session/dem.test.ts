import { describe, expect, test } from "vitest";
import { SessionDemMeta } from "../../../shared/contract/cloud-session/dem.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { dem, failedDem, gridPoints } from "../../support/session/dem.ts";
import { amid, cloud, columnOf, refusal, slab, stateOf, UNKNOWN } from "../../support/session/session-edits.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const { post } = made;

const url = (id: string) => `/api/cloud/session/${id}/dem`;
const BODY = { cell_size: 1, bbox: [0, 0, 6, 5] };
const session = (id: string, body: object = {}) => dem(made, url(id), { ...BODY, ...body }, SessionDemMeta as never);
const remove = (id: string, region: object) => post(id, "delete_region", { region });
const CHANGED = "the cloud changed while this operation ran; run it again";

/** Ground that rises to the east, two trees of 4 and 6 m, one sky point; the shift is (1000, 2000, 0). */
const HEAD = "x y z ground_class target_index intensity is_miss";
const forest = (more: readonly string[] = []) =>
  cloud(
    made,
    [
      HEAD,
      ...gridPoints(6, 5, (x) => x / 2).map(([x, y, z]) => `${1000 + x} ${2000 + y} ${z} 1 2 0 0`),
      `1002.5 2002.5 ${1.25 + 4} 2 1 65535 0`,
      `1003.5 2002.5 ${1.75 + 6} 2 1 65535 0`,
      "1003 2900 900 1 1 0 1",
      ...more,
    ],
    { world_shift: [1000, 2000, 0] },
  );

test("the terrain uses the hits that are not deleted, in the stored frame", async () => {
  const { session_id } = await forest(["1001.5 2001.5 -50 1 1 0 0"]);
  await remove(session_id, { kind: "box", min: [1001, 2001, -60], max: [1002, 2002, -40] });
  const { meta, f32, names } = await session(session_id);
  expect(meta).toMatchObject({
    ground_source: "column",
    voids: 0,
    num_vertices: 30,
    grid_origin: [0, 0],
    world_shift: [1000, 2000, 0],
  });
  expect(f32("grid_z").slice(0, 6)).toEqual([0.25, 0.75, 1.25, 1.75, 2.25, 2.75]);
  expect(f32("vertices").slice(0, 3)).toEqual([0.5, 0.5, 0.25]);
  expect(names).not.toContain("hag");
  expect(meta).not.toHaveProperty("cache_id");
  expect(f32("layer_grid_point_density")[2 * 6 + 2]).toBe(2);
  expect(meta.layers?.intensity?.min).toBe(0);
  expect((await stateOf(made, session_id)).columns.has("extra/height_above_ground")).toBe(false);
});

test.each(["scan_index", "las_point_source_id"])(
  "ground that lies at different heights by %s is told",
  async (slug) => {
    const told = async (lift: number) => {
      const rows = [`x y z ground_class ${slug}`];
      for (let i = 0; i < 24_000; i += 1) {
        const [x, y] = [(20 * i * 0.7548776662) % 20, (20 * i * 0.5698402909) % 20];
        rows.push(`${x} ${y} ${x / 5 + (i % 2) * lift} 1 ${4 + (i % 2)}`);
      }
      const { session_id } = await cloud(made, rows);
      for (const [route, body] of [
        [url(session_id), {}],
        ["/api/dem", { source: { session_id } }],
      ] as const) {
        const { meta } = await dem(made, route, { cell_size: 0.5, ...body });
        expect(meta.scan_heights).toHaveLength(1);
        expect(meta.scan_heights?.[0]).toMatchObject({ scan_a: 4, scan_b: 5 });
        expect(meta.scan_heights?.[0]?.z_m).toBeCloseTo(lift, 2);
        const words = slug === "scan_index" ? "scans" : "flight lines";
        const said = (meta.warnings ?? []).join();
        if (lift > 0.01)
          expect(said).toMatch(new RegExp(`different ${words} \\(${slug}\\): that of 5 lies 8\\.\\d cm above 4`));
        else expect(said).not.toMatch(/different heights/);
      }
    };
    await told(0.08);
    await told(0);
  },
);

test("the intensity layer has the units of the source", async () => {
  const rows = [
    "x y z intensity",
    ...gridPoints(6, 5, () => 0).map(([x, y, z], i) => `${x} ${y} ${z} ${-20 + 0.5 * i}`),
  ];
  const { session_id } = await cloud(made, rows);
  const { meta } = await session(session_id);
  const range = meta.layers?.intensity;
  expect(range?.min).toBeCloseTo(-20, 3);
  expect(range?.max).toBeCloseTo(-20 + 0.5 * 29, 3);
});

test("canopy height: first returns above the ground, without misses", async () => {
  const { session_id } = await forest(
    [
      [0.5, 0.5],
      [5.5, 0.5],
      [0.5, 4.5],
      [5.5, 4.5],
    ].map(([x = 0, y = 0]) => `${1000 + x} ${2000 + y} ${x / 2 + 3} 2 1 0 0`),
  );
  const { meta, f32 } = await session(session_id, { surface_type: "chm", bbox: null });
  expect(meta).toMatchObject({ surface_source: "first_return", ground_source: "column", grid_nx: 5, grid_ny: 4 });
  const heights = f32("grid_z").filter((h) => !Number.isNaN(h));
  expect(heights).toHaveLength(20);
  expect(Math.max(...heights)).toBeGreaterThan(5);
  expect(Math.min(...heights)).toBeGreaterThan(2.4);
});

test("slope_correction defaults to true; false keeps the values of the points", async () => {
  // One point a cell, a quarter of a metre east of its centre, on ground that rises to the east.
  const rows = gridPoints(6, 5, () => 0).map(([x, y]) => `${x + 0.25} ${y} ${(x + 0.25) / 2} 1`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  const usual = await session(session_id);
  const plain = await session(session_id, { slope_correction: false });
  expect(usual.meta.slope_correction).toBe(true);
  expect(plain.meta.slope_correction).toBe(false);
  expect(plain.f32("grid_z").slice(6, 12)).toEqual([0.375, 0.875, 1.375, 1.875, 2.375, 2.875]);
  expect(usual.f32("grid_z").slice(8, 12)).toEqual([1.25, 1.75, 2.25, 2.75]);
  expect(usual.f32("grid_z")[6]).toBe(0.375); // no lower than its neighbours: what is beyond the rim is not known
  expect(usual.meta.warnings).toBeUndefined();
  expect((await refusal(made, url(session_id), { slope_correction: "no" }))[0]).toBe(422);
});

test("points that came back after the ground was segmented are named", async () => {
  const rows = gridPoints(6, 5, (x) => x / 2).map(([x, y, z], i) => `${x} ${y} ${z} ${i < 7 ? 0 : i < 10 ? 2 : 1}`);
  const { session_id } = await cloud(made, ["x y z ground_class", ...rows]);
  const said = [expect.stringMatching(/^7 points have no ground class.*leaves them out.*Segment the ground again/)];
  for (const surface_type of ["dtm", "chm"])
    expect((await session(session_id, { surface_type })).meta.warnings).toEqual(said);
  expect((await session(session_id, { surface_type: "dsm" })).meta.warnings).toBeUndefined();
  await made.post(session_id, "delete_region", { region: { kind: "box", min: [-1, -1, -9], max: [9, 1.9, 99] } });
  expect((await session(session_id)).meta.warnings).toBeUndefined();
});

describe("add_height_column", () => {
  test("writes heights and rebuilds the octree with them", async () => {
    const { session_id, cache_id } = await forest();
    const { meta, stages } = await session(session_id, { add_height_column: true });
    const heights = (await columnOf(made, session_id, "extra/height_above_ground")) ?? [];
    expect(heights.slice(0, 30).every((height) => Math.abs(height) < 1e-6)).toBe(true);
    expect(heights[30]).toBeCloseTo(4, 5);
    expect(heights[31]).toBeCloseTo(6, 5);
    expect(heights[32]).toBe(0); // the sky point
    const { columns, meta: saved } = await stateOf(made, session_id);
    expect(columns.get("extra/height_above_ground")?.native.dtype).toBe("f32");
    expect(saved.extra_dims_meta.at(-1)).toEqual({ slug: "height_above_ground", label: "Height Above Ground" });
    expect(meta.cache_id).not.toBe(cache_id);
    expect(saved.octree_cache_id).toBe(meta.cache_id);
    expect(meta.point_count).toBe(32);
    expect(octreePoints(made.octrees, meta.cache_id as string)).toHaveLength(32);
    expect((meta.attributes as { name: string }[]).map(({ name }) => name)).toContain("height_above_ground");
    expect(stages.some(([progress]) => (progress ?? 0) >= 0.97)).toBe(true);
  });
  test("a second run replaces the column", async () => {
    const { session_id } = await forest();
    const generation = async () => (await stateOf(made, session_id)).meta.octree_stale_gen;
    const first = await generation();
    await session(session_id, { add_height_column: true });
    expect(await generation()).toBe(first + 1); // a rebuild under way lacks the column: it is overtaken
    await session(session_id, { add_height_column: true, ground_percentile: 100 });
    const { meta } = await stateOf(made, session_id);
    expect(meta.extra_dims_meta.filter(({ slug }) => slug === "height_above_ground")).toHaveLength(1);
  });
  test("applies to a DTM only", async () => {
    const { session_id } = await forest();
    const before = await stateOf(made, session_id);
    const { meta } = await session(session_id, { surface_type: "dsm", add_height_column: true });
    expect(meta).not.toHaveProperty("cache_id");
    expect(await stateOf(made, session_id)).toBe(before);
  });
  test.each(["heightAboveGround", "octreeContentHash"] as const)(
    "an edit during %s is a conflict, and nothing is added",
    async (op) => {
      const { session_id } = await forest();
      const edit = () => remove(session_id, slab(0, 1));
      const failure = await amid(op, edit, () =>
        failedDem(made, url(session_id), { ...BODY, add_height_column: true }),
      );
      expect(failure).toMatchObject({ error: CHANGED, code: "conflict", num_vertices: 0 });
      expect((await stateOf(made, session_id)).columns.has("extra/height_above_ground")).toBe(false);
      expect((await stateOf(made, session_id)).undo.deletes).toHaveLength(1);
    },
  );
});

test("too few remaining points are reported in the frame", async () => {
  const { session_id } = await forest();
  await remove(session_id, { kind: "box", min: [0, 0, -99], max: [9999, 9999, 99] });
  expect((await failedDem(made, url(session_id), BODY)).error).toBe("A DEM needs at least three points.");
  expect((await failedDem(made, url(session_id), { surface_type: "x" })).error).toContain("Unknown surface type");
});

test("an unknown session and schema violations are rejected", async () => {
  expect(await refusal(made, url("00000000"), {})).toEqual(UNKNOWN);
  const { session_id } = await forest();
  expect((await refusal(made, url(session_id), { cell_size: "x" }))[0]).toBe(422);
});
