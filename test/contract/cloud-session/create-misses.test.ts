import { describe, expect, test } from "vitest";
import { create, rowsOf } from "../../support/app/app.ts";
import { octreePoints } from "../../support/octree/octree-folder.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const text = (name: string, rows: readonly string[]) => made.file(name, `${rows.join("\n")}\n`);
const flags = async (id: string) => (await rowsOf(made, id, ["is_miss"])).map(({ is_miss }) => is_miss);

describe("signals", () => {
  test("an is_miss column that marks any point takes precedence over all other signals", async () => {
    const rows = ["x y z is_miss target_index", "0 0 0 0 99", "1 0 0 2 1", "5000 0 0 0 1"];
    const tail = await create(made, text("column.txt", rows), { origin: [0, 0, 0] });
    expect(tail).toMatchObject({ has_misses: true, miss_count: 1, point_count: 2, total_count: 3 });
    expect(tail).not.toHaveProperty("autodetected_misses");
    expect(tail).not.toHaveProperty("warnings");
    expect(await flags(tail.session_id)).toEqual([0, 2, 0]);
  });

  test("an is_miss column of zeros is ignored: the echo number 99 is used", async () => {
    const rows = ["x y z is_miss target_index", "0 0 0 0 1", "1 0 0 0 99", "2 0 0 0 2"];
    const tail = await create(made, text("zeros.txt", rows));
    expect(tail).toMatchObject({ has_misses: true, miss_count: 1, autodetected_misses: 1, point_count: 2 });
    expect(tail.warnings).toEqual([expect.stringMatching(/1 by echo number 99/)]);
    expect(await flags(tail.session_id)).toEqual([0, 1, 0]);
  });

  test.each([
    [undefined, 980.98, 1],
    [undefined, 980.97, 0],
    [100, 98, 1],
    [100, 97.99, 0],
  ])("threshold %s: a point %s m from the scanner, misses: %s", async (threshold, distance, misses) => {
    const file = text(`far-${threshold}-${distance}.xyz`, ["10 0 0", "12 0 0", `${10 + distance} 0 0`]);
    const tail = await create(made, file, { origin: [10, 0, 0], miss_distance_threshold: threshold ?? null });
    expect([tail.miss_count ?? 0, tail.autodetected_misses ?? 0, tail.point_count]).toEqual([
      misses,
      misses,
      3 - misses,
    ]);
    if (misses > 0) expect(tail.warnings).toEqual([expect.stringMatching(/1 by a distance of at least/)]);
  });

  test("the scanner position is in the world and the threshold in metres, regardless of shift and units", async () => {
    const file = text("shifted.xyz", ["500000 0 0", "500001 0 0", "504000 0 0"]);
    const wishes = { origin: [500000, 0, 0], world_shift: [152400, 0, 0], source_units: "ft" };
    const tail = await create(made, file, wishes); // 4000 ft = 1219 m
    expect(tail).toMatchObject({ miss_count: 1, autodetected_misses: 1, point_count: 2 });
    expect(tail.tight_bounds?.max[0]).toBeCloseTo(0.3048, 2);
  });

  test("echo number 99 and distance are combined", async () => {
    const rows = ["x y z target_index", "0 0 0 1", "1 0 0 99", "3000 0 0 1"];
    const tail = await create(made, text("both.txt", rows), { origin: [0, 0, 0] });
    expect(tail).toMatchObject({ miss_count: 2, autodetected_misses: 2, point_count: 1 });
  });

  test("without any signal there are no misses, however far the points are", async () => {
    const tail = await create(made, text("none.xyz", ["0 0 0", "90000 0 0"]));
    expect(tail).toMatchObject({ has_misses: false, point_count: 2, miss_octree_cache_id: null });
    expect((await made.deps.sessions.get(tail.session_id)).state.columns.has("extra/is_miss")).toBe(false);
  });

  test("LAS: an is_miss extra dimension, and the distance without one", async () => {
    const rows = [0, 1, 2, 3000].map((x, i) => ({ x, y: 0, z: 0, extra: { is_miss: i === 1 ? 1 : 0 } }));
    const own = made.file("own.las", lasBytes(rows, { extras: [{ name: "is_miss", type: "u8" }] }));
    expect(await create(made, own, { origin: [0, 0, 0] })).toMatchObject({ miss_count: 1, point_count: 3 });
    const plain = made.file("plain.las", lasBytes(rows));
    const tail = await create(made, plain, { origin: [0, 0, 0] });
    expect(tail).toMatchObject({ miss_count: 1, autodetected_misses: 1, point_count: 3 });
  });

  test("PLY: every name of the miss flag is recognised; PCD has no miss flag", async () => {
    for (const name of ["is_miss", "miss", "sky", "scalar_is_miss"]) {
      const header = `ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nproperty uchar ${name}\nend_header\n`;
      const tail = await create(made, made.file(`${name}.ply`, `${header}0 0 0 0\n1 1 1 1\n`));
      expect(tail, name).toMatchObject({ has_misses: true, miss_count: 1, point_count: 1 });
    }
    const pcd =
      "VERSION 0.7\nFIELDS x y z\nSIZE 8 8 8\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n";
    const tail = await create(made, made.file("utm.pcd", `${pcd}500000 5400000 10\n500001 5400000 11\n`));
    expect(tail).toMatchObject({ has_misses: false, point_count: 2 });
  });
});

describe("effects of misses", () => {
  test("misses are excluded from extents, ground, spacing and the octree, but exported", async () => {
    const rows = ["x y z is_miss", "0 0 0 0", "1 0 0 0", "0 1 2 0", "20000 0 -20000 1"];
    const tail = await create(made, text("out.txt", rows));
    expect(tail.tight_bounds).toEqual({ min: [0, 0, 0], max: [1, 1, 2] });
    expect(tail.robust_bounds?.max[0]).toBeLessThanOrEqual(1);
    expect(tail.ground_z).toBeGreaterThanOrEqual(0);
    expect(tail.point_spacing).toBeCloseTo(1, 12);
    expect(tail.observed_classes).toMatchObject({ is_miss: [0] });
    expect((await rowsOf(made, tail.session_id)).map(({ X }) => X)).toEqual([0, 1, 0, 20000]);
  });

  test("the overlay projects misses onto a sphere around the scanner of 1.4 times the farthest hit, in the stored frame", async () => {
    const rows = ["x y z is_miss", "110 0 0 0", "105 0 0 0", "100 20000 0 1", "100 0 20000 1", "100 0 0 1"];
    const tail = await create(made, text("sphere.txt", rows), { origin: [100, 0, 0], world_shift: [100, 0, 0] });
    expect(tail.miss_octree_cache_id).toMatch(/^[0-9a-f]{40}$/);
    const points = octreePoints(made.octrees, tail.miss_octree_cache_id ?? "");
    // The farthest hit is 10 m away; the miss at the scanner has no direction and is not drawn.
    expect(points.sort((a, b) => (a[1] ?? 0) - (b[1] ?? 0))).toEqual([
      [0, 0, 14],
      [0, 14, 0],
    ]);
  });

  test("without an origin, misses are drawn at their own positions; without hits, the radius is one metre", async () => {
    const where = await create(made, text("where.txt", ["x y z sky", "0 0 0 0", "30 40 0 1"]));
    expect(octreePoints(made.octrees, where.miss_octree_cache_id ?? "")).toEqual([[30, 40, 0]]);
    const sky = await create(made, text("sky.txt", ["x y z sky", "30 40 0 1"]), { origin: [0, 0, 0] });
    expect(sky).toMatchObject({
      point_count: 0,
      total_count: 1,
      ground_z: null,
      robust_bounds: null,
      point_spacing: null,
    });
    expect(octreePoints(made.octrees, sky.miss_octree_cache_id ?? "")).toEqual([[0.6, 0.8, 0]]);
  });

  test("if the overlay cannot be built, the import still succeeds with a warning", async () => {
    const cache = made.deps.octreeCache;
    const build = cache.getOrBuild.bind(cache);
    let calls = 0;
    cache.getOrBuild = (id, make, signal) => {
      calls += 1;
      if (calls === 2) throw new Error("no room for the overlay");
      return build(id, make, signal);
    };
    try {
      const tail = await create(made, text("failing.txt", ["x y z sky", "0 0 0.5 0", "31 40 0 1"]));
      expect([calls, tail.has_misses, tail.miss_octree_cache_id]).toEqual([2, true, null]);
      expect(tail.warnings).toEqual([
        expect.stringMatching(/overlay of sky points could not be built: no room for the overlay/),
      ]);
    } finally {
      cache.getOrBuild = build;
    }
  });
});
