import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { pointsColumn } from "../../backend/services/run/points.ts";
import { GroundResponse } from "../../shared/contract/segment-ground.ts";
import type { TestApp } from "../support/app/app.ts";
import { agreement, wooded } from "../support/scans/ground-cloud.ts";
import { answered, numbersOf } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const URL = "/api/segment/ground";
const whole = sessionTest();
const tiled = sessionTest({ config: { groundTileMinPoints: 1000, groundTileTargetPoints: 1000 } });

const segment = (points: readonly (readonly number[])[], request: object, made: TestApp = whole) =>
  answered(made, GroundResponse, URL, { points, ...request });

/** Steps of 1/64 m: what a shift of a million metres leaves as it is. */
const exact = (points: readonly (readonly number[])[]) =>
  points.map((point) => point.map((value) => Math.round(value * 64) / 64));
const scene = fc.record({
  side: fc.integer({ min: 8, max: 14 }),
  step: fc.constantFrom(0.25, 0.5),
  steepness: fc.constantFrom(0, 0.1, 0.5),
  method: fc.constantFrom("cloth", "smrf", "auto"),
});
const pointsOf = (s: { side: number; step: number; steepness: number }) =>
  exact(wooded(s.side, s.step, s.steepness).points);
const settings = { numRuns: 12, seed: 7 };

describe("labels of the endpoint", () => {
  test("follow a permutation of the points", async () => {
    await fc.assert(
      fc.asyncProperty(scene, fc.nat(), async (s, seed) => {
        const points = pointsOf(s);
        const keys = points.map((_, i) => ((i + 1) * 0.7548776662 + seed * 0.5698402909) % 1);
        const order = points.map((_, i) => i).sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0));
        const straight = await segment(points, { method: s.method });
        const shuffled = await segment(
          order.map((i) => points[i] ?? []),
          { method: s.method },
        );
        expect(Array.from(shuffled.labels)).toEqual(order.map((i) => straight.labels[i]));
        expect(shuffled.params_used).toEqual(straight.params_used);
        expect(straight.num_ground).toBeGreaterThan(0);
        expect(straight.num_plant).toBeGreaterThan(0);
      }),
      settings,
    );
  });

  test("do not change when the cloud is shifted by 1000 km", async () => {
    await fc.assert(
      fc.asyncProperty(scene, fc.constantFrom(1e6, -1e6, 4e6), async (s, shift) => {
        const points = pointsOf(s);
        const far = points.map(([x = 0, y = 0, z = 0]) => [x + shift, y - shift, z + 512]);
        const here = await segment(points, { method: s.method });
        const there = await segment(far, { method: s.method });
        expect(Array.from(there.labels)).toEqual(Array.from(here.labels));
        expect(there.params_derived).toEqual(here.params_derived);
        for (const [name, value] of Object.entries(here.params_used))
          expect(Number(there.params_used[name]), name).toBeCloseTo(Number(value), 9);
      }),
      settings,
    );
  });

  test("computed by tiles equal those of the whole cloud, except for half a percent", async () => {
    await fc.assert(
      fc.asyncProperty(fc.record({ steepness: fc.constantFrom(0, 0.1, 0.5), soft: fc.boolean() }), async (s) => {
        const points = exact(wooded(24, 0.4, s.steepness).points);
        const request = {
          cloth_resolution: 0.2,
          class_threshold: 0.2,
          rigidness: s.soft ? 1 : 3,
          slope_smooth: s.soft,
        };
        const one = await segment(points, request);
        const many = await segment(points, request, tiled);
        expect([one.tiled, many.tiled?.n]).toEqual([null, points.length]);
        expect(many.tiled?.tiles).toBeGreaterThan(3);
        expect(agreement(many.labels, one.labels)).toBeGreaterThanOrEqual(0.995);
      }),
      { numRuns: 6, seed: 7 },
    );
  });
});

test("measurements of a cloud do not depend on threads, order or position", async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (s) => {
      const points = pointsOf(s) as [number, number, number][];
      const measure = async (from: [number, number, number][], threads: number) => {
        const column = pointsColumn(from);
        try {
          const extent = await addon.groundExtent(column.native, null, { threads }).promise;
          return { ...extent, ...(await addon.groundMeasures(column.native, null, { threads }).promise) };
        } finally {
          column.release();
        }
      };
      const one = await measure(points, 1);
      expect(await measure(points, 3)).toEqual(one);
      expect(await measure([...points].reverse(), 2)).toEqual(one);
      const far = await measure(
        points.map(([x, y, z]) => [x + 1e6, y + 1e6, z]),
        2,
      );
      expect(far).toEqual(one);
      expect(one.point_spacing_m / s.step).toBeGreaterThan(0.7);
      expect(one.point_spacing_m / s.step).toBeLessThan(1.1);
      expect(one.steepness).toBeGreaterThanOrEqual(s.steepness * 0.9);
      expect(one.steepness).toBeLessThan(s.steepness + 0.3);
    }),
    settings,
  );
});

test("rows that are not finite are labelled plant and counted, and nothing else changes", async () => {
  const points = wooded(10, 0.5).points;
  const odd = pointsColumn([...points, [Number.NaN, 1, 1], [1, Number.POSITIVE_INFINITY, 1]]);
  const { finite_count, extent } = await addon.groundExtent(odd.native, null).promise;
  expect([finite_count, extent]).toEqual([points.length, [10, 10]]);
  const found = await addon.groundAuto(odd.native, null).promise;
  expect(numbersOf(found.ground_class).slice(-2)).toEqual([2, 2]);
  found.ground_class.release();
  odd.release();
});
