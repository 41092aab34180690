import fc from "fast-check";
import { expect, test } from "vitest";
import { dem, type Point } from "../support/session/dem.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

const SIDE = 12;
/** Points anywhere on rolling ground with a step, in steps of 1/64 m: what a shift of a million metres leaves as it is. */
const scene = fc
  .record({
    seed: fc.integer({ min: 1, max: 1e6 }),
    per_cell: fc.constantFrom(0.5, 2, 8),
    steepness: fc.constantFrom(0, 0.3, 1.5),
    step: fc.constantFrom(0, 4),
    method: fc.constantFrom("tin", "idw", "nearest"),
    slope_correction: fc.boolean(),
  })
  .map((s) => ({
    ...s,
    points: Array.from({ length: SIDE * SIDE * s.per_cell }, (_, i): Point => {
      const of = (factor: number) => Math.floor(64 * SIDE * (((i + s.seed) * factor) % 1)) / 64;
      const [x, y] = [of(0.7548776662), of(0.5698402909)];
      const z = s.steepness * (x + 2 * Math.sin(y / 2)) + (x > 6 ? s.step : 0);
      return [x, y, Math.round(64 * z) / 64];
    }),
  }));
type Scene = ReturnType<(typeof scene)["generate"]>["value"];

async function grid({ points, method, slope_correction }: Scene, moved = points, east = 0) {
  const request = { method, slope_correction, cell_size: 1, auto_segment_ground: false };
  const bbox = [east, -east, SIDE + east, SIDE - east];
  return (await dem(made, "/api/dem", { ...request, points: moved, bbox })).f32("grid_z");
}
const settings = { numRuns: 30, seed: 11 };

test("a terrain does not depend on the order of its points", async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (s) => {
      const turned = s.points.map((_, i) => s.points[(i * 7 + 3) % s.points.length] as Point);
      expect(await grid(s, turned)).toEqual(await grid(s));
    }),
    settings,
  );
});

test("a terrain moves with its points by 1000 km", async () => {
  await fc.assert(
    fc.asyncProperty(scene, fc.constantFrom(1e6, -1e6, 4e6), async (s, east) => {
      const there = await grid(
        s,
        s.points.map(([x, y, z]): Point => [x + east, y - east, z]),
        east,
      );
      const here = await grid(s);
      here.forEach((z, c) => {
        if (Number.isNaN(z)) expect(there[c]).toBeNaN();
        else expect(Math.abs((there[c] as number) - z)).toBeLessThan(1e-5); // places in steps of 2^-24 cells, f32
      });
    }),
    settings,
  );
});

test("a corrected terrain stays between its lowest and its highest point", async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (s) => {
      const heights = s.points.map(([, , z]) => z);
      for (const z of (await grid({ ...s, slope_correction: true })).filter((value) => !Number.isNaN(value))) {
        expect(z).toBeGreaterThanOrEqual(Math.min(...heights) - 1e-5);
        expect(z).toBeLessThanOrEqual(Math.max(...heights) + 1e-5);
      }
    }),
    settings,
  );
});
