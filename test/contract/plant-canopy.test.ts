import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { readRun } from "../support/app/run-body.ts";
import { atMoment } from "../support/native/native-moment.ts";
import { stopwatch } from "../support/run/stopwatch.ts";
import { build, framed, posted } from "../support/session/plants.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();
const URL_ = "/api/plant/canopy/generate";
const ONE = "/api/plant/generate";
const LETTUCE = { plant_type: "butterlettuce", age: 15, random_seed: 3 };
const PAIR = { ...LETTUCE, count_x: 2, count_y: 2, spacing_x: 1, spacing_y: 2 };

/** Centre of the box of the vertices. */
const middle = (vertices: readonly (readonly number[])[], k: number) => {
  const values = vertices.map((vertex) => vertex[k] ?? 0);
  return (Math.min(...values) + Math.max(...values)) / 2;
};

describe("a grid of plants", () => {
  test("2 x 2: four plants, about four times the triangles of one, around the centre", async () => {
    const canopy = await build(made, URL_, { ...PAIR, center_x: 10, center_y: -5, center_z: 3 });
    const single = await build(made, ONE, LETTUCE);
    expect(canopy).toMatchObject({
      success: true,
      plant_count: 4,
      count_x: 2,
      count_y: 2,
      spacing_x: 1,
      spacing_y: 2,
      session_id: null,
      age: 15,
    });
    expect(canopy.triangle_count / single.triangle_count).toBeGreaterThan(3);
    expect(canopy.triangle_count / single.triangle_count).toBeLessThan(5);
    expect(middle(canopy.vertices, 0)).toBeCloseTo(10, 0);
    expect(middle(canopy.vertices, 1)).toBeCloseTo(-5, 0);
    expect(Math.min(...canopy.vertices.map(([, , z]) => z))).toBeGreaterThan(2.99);
  });

  test("the first plant is that of the single build with the same seed; the others differ", async () => {
    const canopy = await build(made, URL_, { ...PAIR, spacing_x: 0, spacing_y: 0 });
    const single = await build(made, ONE, LETTUCE);
    expect(canopy.vertices.slice(0, single.vertices.length)).toEqual(single.vertices);
    expect(canopy.height).toBe(single.height);
    expect(canopy.sim_xml).toBe(single.sim_xml);
    expect(canopy.vertices.slice(single.vertices.length, 2 * single.vertices.length)).not.toEqual(single.vertices);
  });

  test("the same seed gives the same bytes, at any number of cores", async () => {
    const text = async () =>
      (await made.app.inject({ method: "POST", url: URL_, payload: { ...PAIR, count_x: 5 } })).body;
    const before = await text();
    const threads = addon.setThreadsOfJobs(1);
    try {
      expect((await text()) === before).toBe(true);
    } finally {
      addon.setThreadsOfJobs(threads);
    }
  });

  test("germination: 1 keeps all, a rate about its share, the same places each time", async () => {
    const many = { ...LETTUCE, age: 1, count_x: 15, count_y: 15, spacing_x: 1, spacing_y: 1, instances: true };
    const count = async (germination_rate: number, random_seed = many.random_seed) =>
      (await framed(made, URL_, { ...many, germination_rate, random_seed })).meta.plant_count;
    expect(await count(1)).toBe(225);
    const half = Number(await count(0.5));
    expect(Math.abs(half - 112.5)).toBeLessThan(30); // 4 standard deviations
    expect(await count(0.5)).toBe(half);
    expect(await count(0.5, 4)).not.toBe(half);
  });

  test("nothing germinates: a failure with the counts, and what to do", async () => {
    const canopy = await build(made, URL_, { ...PAIR, germination_rate: 0 });
    expect(canopy).toMatchObject({ success: false, plant_count: 0, count_x: 2, spacing_y: 2, triangle_count: 0 });
    expect([canopy.code, canopy.error]).toEqual(["invalid_argument", expect.stringContaining("germination_rate")]);
    const { meta } = await framed(made, URL_, { ...PAIR, germination_rate: 0 });
    expect(meta).toMatchObject({ success: false, plant_count: 0, count_x: 2 });
  });

  test("as instances: every organ and tube segment names its plant", async () => {
    const { meta, buffers } = await framed(made, URL_, { ...PAIR, instances: true, center_x: 100 });
    expect(meta).toMatchObject({ success: true, plant_count: 4, origin: [100, 0, 0] });
    expect(new Set(buffers.get("instance_plant"))).toEqual(new Set([0, 1, 2, 3]));
  });

  test("as instances: plants share the shapes of their tubes, at any number of cores the same bytes", async () => {
    const beans = { plant_type: "bean", age: 20, random_seed: 1, spacing_x: 1, spacing_y: 1, instances: true };
    const grid = (side: number) => framed(made, URL_, { ...beans, count_x: side, count_y: side });
    const [few, many] = [await grid(2), await grid(8)];
    const shapes = ({ meta }: typeof few) => (meta.prototype_names as string[]).length;
    expect(Number(many.meta.instance_count) / Number(few.meta.instance_count)).toBeGreaterThan(10);
    expect(shapes(many) / shapes(few)).toBeLessThan(8);
    expect(many.meta.triangle_count).toBe(0);
    const threads = addon.setThreadsOfJobs(1);
    try {
      const again = await grid(8);
      for (const [name, data] of many.buffers) expect(again.buffers.get(name), name).toEqual(data);
    } finally {
      addon.setThreadsOfJobs(threads);
    }
  });

  test("as instances: canceled while they are packed", async () => {
    const payload = { ...LETTUCE, age: 20, count_x: 60, count_y: 60, instances: true };
    const { value, reached } = await atMoment(
      { op: "instancePlants" },
      () => made.deps.jobs.cancelAll(),
      () => made.app.inject({ method: "POST", url: URL_, payload, headers: { accept: "application/octet-stream" } }),
    );
    expect(reached).toBe(true);
    expect(readRun(value.rawPayload).outcome).toEqual({ kind: "canceled" });
  });
});

describe("refusals say the values, and nothing grows", () => {
  test.each([
    [{ count_x: 0 }, "0 and 3"],
    [{ count_y: -2 }, "3 and -2"],
    [{ age: -3 }, "-3"],
    [{ germination_rate: 1.5 }, "from 0 to 1, not 1.5"],
    [{ germination_rate: -0.1 }, "from 0 to 1, not -0.1"],
    [{ plant_type: "triffid" }, '"triffid"'],
    [{ count_x: 1_000_000, count_y: 1_000_000 }, "1000000 x 1000000"],
    [{ count_x: 9_007_199_254_740_991, count_y: 9_007_199_254_740_991 }, "9007199254740991"],
  ])("%j", async (wish, text) => {
    const stop = stopwatch();
    const canopy = await build(made, URL_, { ...LETTUCE, ...wish });
    expect(canopy).toMatchObject({ success: false, triangle_count: 0, vertices: [] });
    expect(canopy.error).toContain(text);
    expect(canopy.count_x).toBe((wish as { count_x?: number }).count_x ?? 3);
    expect(stop().own_ms).toBeLessThan(5000);
  });

  test("a canopy that no machine has memory for: what it needs, what is free, and what to do", async () => {
    const wish = { plant_type: "almond", age: 1825, random_seed: 1, count_x: 1000, count_y: 1000 };
    const { meta } = await framed(made, URL_, { ...wish, instances: true });
    expect(meta).toMatchObject({ success: false, code: "unsupported" });
    expect(meta.error).toMatch(
      /^A canopy of 1000000 plants needs about .* GiB, but .* GiB of memory are free; grow fewer or younger plants$/,
    );
  });

  test("a negative or endless spacing is no request", async () => {
    expect((await posted(made, URL_, { ...LETTUCE, spacing_x: -1 })).status).toBe(422);
  });

  test("too many triangles for JSON: the failure names the frame", async () => {
    const many = { ...LETTUCE, age: 40, count_x: 40, count_y: 40 };
    const canopy = await build(made, URL_, many);
    expect(canopy).toMatchObject({ success: false, code: "unsupported", count_x: 40 });
    expect(canopy.error).toContain("application/octet-stream");
  }, 60_000);
});
