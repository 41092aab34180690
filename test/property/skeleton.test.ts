import fc from "fast-check";
import { expect, test } from "vitest";
import { addon } from "../../backend/native/core/addon.ts";
import { levelSetSkeleton, type SkeletonParams } from "../../backend/native/skeleton.ts";

type Point = readonly [number, number, number];

/** Places on a lattice of 2^-9 m: sums with whole metres up to 2^42 are exact. */
const STEP = 2 ** -9;
const cell = (most: number) => fc.integer({ min: 0, max: most });
/** A rod and a blob above each other, with strays; some points twice. */
const clouds = fc
  .tuple(
    fc.array(fc.tuple(cell(12), cell(12), cell(400)), { minLength: 100, maxLength: 400, size: "max" }),
    fc.array(fc.tuple(cell(90), cell(90), fc.integer({ min: 380, max: 460 })), { maxLength: 300, size: "max" }),
    fc.array(fc.constantFrom<Point>([5, 5, 5], [6, 6, 390]), { maxLength: 30, size: "max" }),
  )
  .map((parts) => parts.flat().map(([x, y, z]): Point => [x * STEP, y * STEP, z * STEP]));
const settings = fc.record({
  remove_outliers: fc.boolean(),
  search_radius_m: fc.constantFrom(null, 0.05, 0.2),
  max_neighbors: fc.constantFrom(1, 6, 20),
  quantization_levels: fc.constantFrom(2, 9, 60),
  use_nonlinear_quantization: fc.boolean(),
  threshold_filter: fc.constantFrom(0, 3, 15),
  use_proportion_filter: fc.boolean(),
  recenter: fc.boolean(),
});

const numbers = (column: { length: number; bytes: number; readInto(out: Uint8Array, at: number): unknown }) => {
  const bytes = new Uint8Array(column.bytes);
  column.readInto(bytes, 0);
  return bytes.buffer;
};

async function skeleton(points: readonly Point[], some: Partial<SkeletonParams>, offset: Point = [0, 0, 0]) {
  const column = new addon.Column("vec3d", new Uint8Array(Float64Array.from(points.flat()).buffer));
  const params: SkeletonParams = {
    remove_outliers: true,
    outlier_nb_neighbors: 8,
    outlier_std_ratio: 2,
    search_radius_m: 0.05,
    max_neighbors: 20,
    root_threshold_m: 0.02,
    quantization_levels: 60,
    use_nonlinear_quantization: true,
    threshold_filter: 5,
    use_proportion_filter: true,
    proportion_threshold: 0.1,
    smooth_skeleton: true,
    smoothing_iterations: 2,
    recenter: true,
    ...some,
  };
  const found = await levelSetSkeleton(column, null, params, offset).promise;
  const places = new Float64Array(numbers(found.points));
  const edges = new Uint32Array(numbers(found.edges));
  const orders = new Uint32Array(numbers(found.branch_orders));
  for (const one of [column, found.points, found.edges, found.branch_orders, found.blocks]) one.release();
  return { failure: found.failure, reached: found.reached, length: found.total_length_m, places, edges, orders };
}

const SETTINGS = { seed: 2026, numRuns: 150 };

test("the order of the points changes no bit", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(clouds, settings, fc.integer({ min: 1, max: 1000 }), async (points, params, turn) => {
      const order = points.map((_, i) => i).sort((a, b) => ((a * 7919 * turn) % 1009) - ((b * 7919 * turn) % 1009));
      const straight = await skeleton(points, params);
      const turned = await skeleton(
        order.map((i) => points[i] as Point),
        params,
      );
      expect(turned).toEqual(straight);
      if (straight.failure === null) found += 1;
    }),
    SETTINGS,
  );
  expect(found).toBeGreaterThan(50);
});

test("a skeleton is one tree, and 5000 km away it is the same", async () => {
  const far: Point = [5_000_000, -4_000_000, 2_000];
  let found = 0;
  await fc.assert(
    fc.asyncProperty(clouds, settings, async (points, params) => {
      const near = await skeleton(points, params);
      const moved = points.map(([x, y, z]): Point => [x + far[0], y + far[1], z + far[2]]);
      const there = await skeleton(moved, params, [-far[0], -far[1], -far[2]]);
      expect([there.failure, there.reached, there.edges, there.orders]).toEqual([
        near.failure,
        near.reached,
        near.edges,
        near.orders,
      ]);
      for (const [i, value] of there.places.entries())
        expect(Math.abs(value - (near.places[i] ?? 0))).toBeLessThan(2e-9);
      if (near.failure !== null) return;
      found += 1;
      const nodes = near.places.length / 3;
      const parent = new Map<number, number>();
      for (let i = 0; i < near.edges.length; i += 2) parent.set(near.edges[i + 1] ?? 0, near.edges[i] ?? 0);
      expect([near.edges.length / 2, parent.size]).toEqual([nodes - 1, nodes - 1]);
      for (let i = 0; i < nodes; i += 1) {
        let up: number | undefined = i;
        for (let steps = 0; up !== undefined; steps += 1, up = parent.get(up)) expect(steps).toBeLessThan(nodes);
      }
    }),
    SETTINGS,
  );
  expect(found).toBeGreaterThan(50);
});
