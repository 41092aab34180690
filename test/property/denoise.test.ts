import fc from "fast-check";
import { expect, test } from "vitest";
import { labelNoise, type NoiseParams } from "../../backend/native/classify/denoise.ts";
import { addon } from "../../backend/native/core/addon.ts";

type Point = readonly [number, number, number];

/** Places on a lattice of 2^-10 m: sums with whole metres up to 2^42 are exact, so that moving a cloud changes no distance. */
const STEP = 2 ** -10;
const tight = fc.tuple(
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 40 }),
  fc.integer({ min: 0, max: 8 }),
);
const wide = fc.tuple(
  fc.integer({ min: -9000, max: 9000 }),
  fc.integer({ min: -9000, max: 9000 }),
  fc.integer({ min: -900, max: 900 }),
);
/** Large enough for several leaves of a tree: fast-check makes short lists unless told otherwise. */
const clouds = fc
  .tuple(
    fc.array(tight, { maxLength: 250, size: "max" }),
    fc.array(wide, { maxLength: 60, size: "max" }),
    fc.array(fc.constantFrom<Point>([5, 5, 5], [5, 5, 6], [20, 20, 4]), { maxLength: 20, size: "max" }),
  )
  .map((parts) => parts.flat().map(([x, y, z]): Point => [x * STEP, y * STEP, z * STEP]));

const tiles = fc.constantFrom(0, 20, 90);
const lengths = fc.constantFrom(STEP, 3 * STEP, 16 * STEP, 0.7, 4);
const counts = fc.integer({ min: 1, max: 6 });
const untiled: fc.Arbitrary<NoiseParams> = fc.oneof(
  fc.record({ method: fc.constant("ror" as const), radius: lengths, nb_points: counts, tile_points: fc.constant(0) }),
  fc.record({
    method: fc.constant("voxel_count" as const),
    voxel: lengths,
    min_points: counts,
    tile_points: fc.constant(0),
  }),
  fc.record({
    method: fc.constant("sor" as const),
    nb_neighbors: fc.integer({ min: 1, max: 30 }),
    std_ratio: fc.constantFrom(1, 2.5, 4),
  }),
  fc.record({
    method: fc.constant("auto" as const),
    nb_neighbors: fc.constantFrom(2, 16),
    link_factor: fc.constantFrom(1.5, 10),
    ball_factor: fc.constantFrom(0.9, 3),
    most_thin: fc.constantFrom(0, 1),
    min_ball_link: fc.constantFrom(0, 0.05),
    most_uneven: fc.constantFrom(0, 9),
    surface_factor: fc.constantFrom(0.5, 1.4),
    min_link: fc.constant(0),
    max_link: lengths,
    cluster_points: counts,
    gap_factor: fc.constantFrom(0, 2),
    beams: fc.constant(null),
  }),
);

async function labels(points: readonly Point[], params: NoiseParams): Promise<number[]> {
  const column = new addon.Column("vec3d", new Uint8Array(Float64Array.from(points.flat()).buffer));
  const { noise_class, analyzed_count } = await labelNoise(column, null, params, false).promise;
  const out = new Uint8Array(noise_class.length);
  noise_class.readInto(out, 0);
  noise_class.release();
  column.release();
  expect(analyzed_count).toBe(points.length);
  return Array.from(out);
}

const SETTINGS = { seed: 2026, numRuns: 300 };

test("labels follow the points in any order", async () => {
  let noise = 0;
  let clean = 0;
  await fc.assert(
    fc.asyncProperty(clouds, untiled, fc.integer({ min: 1, max: 1000 }), async (points, params, turn) => {
      const order = points.map((_, i) => i).sort((a, b) => ((a * 7919 * turn) % 1009) - ((b * 7919 * turn) % 1009));
      const straight = await labels(points, params);
      const turned = await labels(
        order.map((i) => points[i] as Point),
        params,
      );
      expect(turned).toEqual(order.map((i) => straight[i]));
      noise += straight.filter((label) => label === 2).length;
      clean += straight.filter((label) => label === 1).length;
    }),
    SETTINGS,
  );
  expect(Math.min(noise, clean)).toBeGreaterThan(1000); // or nothing was told apart
});

test("a cloud a million metres away gets the same labels", async () => {
  const far = fc.constantFrom<Point>([1e6, -1e6, 0], [5e5, 4.5e6, 300], [-1e6, 1e6, -1e6]);
  await fc.assert(
    fc.asyncProperty(clouds, untiled, far, async (points, params, [dx, dy, dz]) => {
      const moved = points.map(([x, y, z]): Point => [x + dx, y + dy, z + dz]);
      expect(await labels(moved, params)).toEqual(await labels(points, params));
    }),
    SETTINGS,
  );
});

test("tiles do not change any label", async () => {
  await fc.assert(
    fc.asyncProperty(clouds, untiled, tiles, async (points, params, tile_points) => {
      if (params.method !== "ror" && params.method !== "voxel_count") return;
      expect(await labels(points, { ...params, tile_points })).toEqual(await labels(points, params));
    }),
    SETTINGS,
  );
});

test("a point ten thousand kilometres away is noise and does not change any other label", async () => {
  await fc.assert(
    fc.asyncProperty(clouds, untiled, async (points, params) => {
      const alone = params.method === "voxel_count" ? params.min_points === 1 : false;
      const least = params.method === "auto" ? params.cluster_points === 1 : alone;
      if (params.method === "sor" || least || points.length === 0) return; // sor: mean and deviation are of all points
      const beside = await labels([...points, [1e7, 1e7, 1e7]], params);
      expect(beside.pop()).toBe(2);
      // With fewer others than it looks at, auto takes the far point for one of the nearest.
      if (params.method === "auto" && points.length <= params.nb_neighbors) return;
      expect(beside).toEqual(await labels(points, params));
    }),
    SETTINGS,
  );
});
