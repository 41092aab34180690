import { describe, expect, test } from "vitest";
import { dem, type Point } from "../support/session/dem.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { random } from "../support/session-model/source.ts";

/** Surfaces that another density of points would move, and how much the answer says of it. */

const made = sessionTest();
const EDGE = 40;
const box = { cell_size: 1, bbox: [0, 0, EDGE, EDGE], auto_segment_ground: false };
const ground = (x: number, y: number) => Math.sin(x / 2) + Math.cos(y / 3);
/** Cones of 6 m on level ground, 8 m apart, through which an eighth of the returns passes. */
const crown = (x: number, y: number) => Math.max(0, 6 * (1 - Math.hypot((x % 8) - 4, (y % 8) - 4) / 4));

function scattered(count: number, height: (x: number, y: number) => number, spread: number): Point[] {
  const next = random(7);
  return Array.from({ length: count }, () => {
    const [x, y] = [EDGE * next(), EDGE * next()];
    return [x, y, height(x, y) - spread * next()];
  });
}
const dsmOf = (points: readonly Point[], body: object = {}) => dem(made, "/api/dem", { ...box, points, ...body });

describe("terrain", () => {
  const truth = Array.from({ length: EDGE * EDGE }, (_, c) => ground((c % EDGE) + 0.5, Math.floor(c / EDGE) + 0.5));
  test.each([150, 400, 3000, 20_000])(
    "%i points: the change with half of them is of the order of the error",
    async (count) => {
      const { meta, f32 } = await dsmOf(scattered(count, ground, 0), { surface_type: "dtm" });
      const errors = f32("grid_z").flatMap((z, c) => (Number.isFinite(z) ? [z - (truth[c] ?? 0)] : []));
      const rms = Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length);
      const { n_cells = 0, rms_m = 0, mean_m = 1 } = meta.half_points ?? {};
      expect(n_cells).toBeGreaterThan(1000);
      expect(rms_m / rms).toBeGreaterThan(0.5);
      expect(rms_m / rms).toBeLessThan(2.5);
      expect(Math.abs(mean_m)).toBeLessThan(rms_m);
      const told = (meta.warnings ?? []).filter((text) => text.includes("half_points"));
      expect(told).toEqual(rms_m > 0.025 ? [expect.stringContaining(`differs by ${rms_m.toFixed(2)} m`)] : []);
      expect(rms_m > 0.025).toBe(count < 20_000);
    },
  );

  test("in any order of the points", async () => {
    const points = scattered(400, ground, 0);
    const one = await dsmOf(points, { surface_type: "dtm" });
    const other = await dsmOf([...points].reverse(), { surface_type: "dtm" });
    expect(other.meta.half_points).toEqual(one.meta.half_points);
  });
});

describe("canopy", () => {
  const cloud = (count: number): Point[] => [
    ...scattered(count, crown, 2).map(([x, y, z]): Point => [x, y, Math.max(0, z)]),
    ...scattered(2000, () => 0, 0),
  ];
  const labelled = (count: number) => {
    const points = cloud(count);
    return { points, ground_labels: points.map(([, , z], i) => (z === 0 || i >= count ? 1 : 0)), surface_type: "chm" };
  };

  test("returns that are few for the crowns: it is lower, and the answer says by how much", async () => {
    const [few, more] = [labelled(1500), labelled(3000)];
    const sparse = await dem(made, "/api/dem", { ...box, ...few });
    const dense = await dem(made, "/api/dem", { ...box, ...more });
    const lower = (a: readonly number[], b: readonly number[]) => {
      const changes = a.flatMap((z, c) => (z > 2 && Number.isFinite(b[c]) ? [z - (b[c] ?? 0)] : []));
      return changes.reduce((sum, change) => sum + change, 0) / changes.length;
    };
    const loss = lower(dense.f32("grid_z"), sparse.f32("grid_z"));
    expect(dense.meta.half_points?.mean_m).toBeGreaterThan(0.1);
    expect((dense.meta.half_points?.mean_m ?? 0) / loss).toBeCloseTo(1, 0);
    const { mean_m = 0 } = sparse.meta.half_points ?? {};
    expect(sparse.meta.warnings?.join()).toContain(
      `with every second one it is ${mean_m.toFixed(2)} m lower (mean of cells above 2 m`,
    );
  });

  test("many returns in each cell: nothing to say", async () => {
    const { meta } = await dem(made, "/api/dem", { ...box, ...labelled(60_000) });
    expect(meta.half_points?.mean_m).toBeLessThan(0.1);
    expect(meta).not.toHaveProperty("warnings");
  });

  test("no canopy: no cells to compare", async () => {
    const points = scattered(2000, () => 0, 0);
    const { meta } = await dem(made, "/api/dem", {
      ...box,
      points,
      ground_labels: points.map(() => 1),
      surface_type: "chm",
    });
    expect(meta.half_points).toBeNull();
  });
});

describe("crops", () => {
  /** Plants of 0.4 m in rows of 1 m on ground with noise, m; `wavy` ground is hidden but for one point of 40. */
  function crops(noise: number, wavy: boolean) {
    const next = random(3);
    const floor = (x: number, y: number) => (wavy ? 0.1 * ground(2 * x, 2 * y) : 0);
    const plants = scattered(20_000, (x, y) => floor(x, y) + 0.4 * Math.abs(Math.sin(Math.PI * y)), 0.02);
    const bare = scattered(wavy ? 500 : 20_000, floor, 0).map(
      ([x, y, z]): Point => [x, y, z + noise * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())],
    );
    const points = [...plants, ...bare];
    return { ...box, points, ground_labels: points.map((_, i) => (i < plants.length ? 0 : 1)), surface_type: "chm" };
  }
  const told = async (body: object) => (await dem(made, "/api/dem", body)).meta;

  test("cells above 0.1 m are compared where nothing is higher than 2 m", async () => {
    const { half_points, warnings } = await told(crops(0.002, false));
    expect(half_points?.n_cells).toBeGreaterThan(1000);
    expect(warnings).toBeUndefined();
  });

  test("noise that makes the terrain below too low is told beside the height", async () => {
    const noisy = crops(0.025, false);
    const said =
      /^Half of the ground's returns lie more than 4\.1 cm, \d+ % of the 0\.\d\d m of the canopy, above .* percentile 5 /;
    expect((await told(noisy)).warnings).toEqual([expect.stringMatching(said)]);
    expect((await told({ ...noisy, ground_percentile: 50 })).warnings).toBeUndefined();
  });

  test("ground that plants hide is told beside the height", async () => {
    const { warnings = [] } = await told(crops(0, true));
    expect(warnings.join()).toMatch(
      /The terrain below the canopy differs by \d+\.\d cm, \d+ % of the 0\.\d\d m of the canopy/,
    );
  });
});
