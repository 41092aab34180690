import { describe, expect, test } from "vitest";
import { cloud } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";
import { lattice, measured, triangulated } from "../support/session/triangulation.ts";

const made = sessionTest();
const mesh = (payload: object) => triangulated(made, payload);

describe("reconstructions", () => {
  const sphere = (radius: number, count = 2000): [number, number, number][] =>
    Array.from({ length: count }, (_, i) => {
      const z = 1 - (2 * i + 1) / count;
      const turn = i * Math.PI * (3 - Math.sqrt(5));
      const across = radius * Math.sqrt(1 - z * z);
      return [across * Math.cos(turn), across * Math.sin(turn), radius * z];
    });

  test.each([
    ["ball_pivoting", undefined],
    ["poisson", 6],
  ])("%s: a closed outward sphere, with the normals estimated first", async (method, depth) => {
    const { meta, f32, u32, stages } = await mesh({ points: sphere(1), method, depth });
    const found = measured(f32("vertices"), u32("indices"));
    expect(found).toMatchObject({ closed: true, euler: 2 });
    expect(Math.abs(found.volume / ((4 / 3) * Math.PI) - 1)).toBeLessThan(0.01);
    expect(Math.abs(meta.surface_area / (4 * Math.PI) - 1)).toBeLessThan(0.01);
    expect(meta).toMatchObject({ points_used: 2000, method_used: method });
    expect(meta.warnings).toBeUndefined();
    const told = stages.map(([at, label]) => `${at} ${label}`);
    const meshing = method === "poisson" ? "0.45 Meshing (poisson)" : "0.45 Meshing (ball pivoting)";
    expect(told).toEqual(expect.arrayContaining(["0.25 Estimating normals", meshing]));
    const filtered = stages.filter(([, label]) => label === "Filtering low-density vertices");
    expect(filtered.length > 0).toBe(method === "poisson");
    for (const [at] of filtered) expect(at).toBeGreaterThanOrEqual(0.7);
    const fractions = stages.flatMap(([progress]) => progress ?? []);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  });

  test("ball pivoting: the inner side of a torus faces outward too", async () => {
    const points = Array.from({ length: 6000 }, (_, i): [number, number, number] => {
      const [around, ring] = [(2 * Math.PI * (i % 60)) / 60, (2 * Math.PI * (Math.floor(i / 60) + (i % 2) / 2)) / 100];
      const across = 1 + 0.5 * Math.cos(around);
      return [across * Math.cos(ring), across * Math.sin(ring), 0.5 * Math.sin(around)];
    });
    const { meta, f32, u32 } = await mesh({ points });
    const found = measured(f32("vertices"), u32("indices"));
    expect(found).toMatchObject({ closed: true, euler: 0 });
    expect(Math.abs(found.volume / (2 * Math.PI ** 2 * 0.25) - 1)).toBeLessThan(0.01);
    expect(meta).toMatchObject({ oriented_by: "neighbors" });
  });

  test("ball pivoting: a level wall with noise is one surface", async () => {
    const noise = (i: number) => 0.004 * (((i * 0.754877666) % 1) + ((i * 0.569840291) % 1) - 1);
    const points = Array.from({ length: 10_000 }, (_, i) => [0.02 * (i % 100), 0.02 * Math.floor(i / 100), noise(i)]);
    const { meta } = await mesh({ points });
    expect(Math.abs(meta.surface_area / 1.98 ** 2 - 1)).toBeLessThan(0.05);
  });

  test("ball pivoting is the default; its radii are given, or taken from the spacing", async () => {
    const { meta } = await mesh({ points: sphere(1) });
    expect(meta).toMatchObject({ method_used: "ball_pivoting", tile_count: 1 });
    const [first = 0, ...others] = meta.radii_m ?? [];
    expect(others).toEqual([2 * first, 4 * first]);
    const given = await mesh({ points: sphere(1), radii: [0.4, 0.2] });
    expect(given.meta).toMatchObject({ radii_m: [0.2, 0.4] });
    expect(given.meta).not.toHaveProperty("filled_hole_count");
  });

  test("holes through which the automatic balls fall are closed and counted", async () => {
    // The largest ball has a radius of about 0.3.
    const points = sphere(1).filter(([x, y, z]) => Math.hypot(x - 0.6, y, z - 0.8) > 0.36);
    const { meta, f32, u32 } = await mesh({ points });
    expect(meta.points_used).toBeLessThan(2000);
    expect(meta.filled_hole_count).toBe(1);
    expect(measured(f32("vertices"), u32("indices"))).toMatchObject({ closed: true, euler: 2 });
    const { meta: given, ...open } = await mesh({ points, radii: meta.radii_m });
    expect(given.num_triangles).toBeLessThan(meta.num_triangles);
    expect(measured(open.f32("vertices"), open.u32("indices")).closed).toBe(false);
  });

  test("a radius that leaves points without a normal gives way, and a warning says so", async () => {
    const { meta, f32, u32 } = await mesh({ points: sphere(10), method: "poisson", depth: 5 });
    expect(meta.warnings).toEqual([expect.stringMatching(/^2000 of 2000 points have fewer than three neighbours/)]);
    expect(measured(f32("vertices"), u32("indices"))).toMatchObject({ closed: true, euler: 2 });
    expect((await mesh({ points: sphere(10), method: "poisson", depth: 5, normal_radius: 5 })).meta.warnings).toBe(
      undefined,
    );
  });

  test("an open surface is not closed beyond its border", async () => {
    const points = lattice(40, 40, 1).map(([x, y]) => [x, y, Math.sin(x / 8) * 2]);
    const { meta, f32 } = await mesh({ points, method: "poisson", depth: 6, normal_radius: 3 });
    expect(Math.min(...f32("vertices"))).toBeGreaterThan(-3.5);
    expect(meta.surface_area).toBeGreaterThan(39 * 39);
    expect(meta.surface_area).toBeLessThan(1.25 * 39 * 39);
  });
});

describe("beam origins", () => {
  /** Both faces of a wall, each seen from its side in rows 0.1 m apart; the lines end with where they say they came from. */
  const wall = (from: (side: number) => readonly [number, number, number], thickness = 0.06) =>
    [1, -1].flatMap((side) =>
      Array.from({ length: 21 * 101 }, (_, i) => {
        const [row, column] = [Math.floor(i / 101), i % 101];
        return [(thickness / 2) * side, 0.02 * column, 0.1 * row + 0.02 * side, ...from(side)].join(" ");
      }),
    );
  const HEAD = "x y z origin_x origin_y origin_z";
  const meshed = async (lines: readonly string[], method: string, more: object = {}) => {
    const { session_id } = await cloud(made, [HEAD, ...lines]);
    return mesh({ source: { session_id }, method, ...more });
  };

  test("poisson: the faces of a thin wall stay apart", async () => {
    const { meta } = await meshed(
      wall((side) => [3 * side, 1, 1]),
      "poisson",
      { depth: 7 },
    );
    expect(meta).toMatchObject({ oriented_by: "beam_origins" });
    expect(meta.warnings?.filter((text) => text.includes("origin")) ?? []).toEqual([]);
    expect(Math.abs((meta.surface_area ?? 0) / 8 - 1)).toBeLessThan(0.15);
  });

  test("ball pivoting does not use them", async () => {
    const lines = wall((side) => [3 * side, 1, 1]);
    expect((await meshed(lines, "ball_pivoting", { radii: [0.09] })).meta).toMatchObject({ oriented_by: "neighbors" });
  });

  test("points without one: the origins of the others are not used", async () => {
    const points = wall((side) => [3 * side, 1, 1]).map((line) => line.split(" ").slice(0, 3).map(Number));
    const { session_id } = await cloud(made, [HEAD, ...wall((side) => [3 * side, 1, 1])]);
    const partly = await mesh({ sources: [{ session_id }], points, method: "poisson", depth: 5 });
    expect(partly.meta).toMatchObject({ oriented_by: "neighbors" });
  });
});
