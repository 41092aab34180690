import { expect, test } from "vitest";
import { defaultCell, pointDensity, rasterPlace } from "../../../../backend/cli/analyze/cell-size.ts";
import { doubtfulSize } from "../../../../backend/cli/analyze/doubtful-size.ts";
import { ceilingOf, detectedScene, sceneOf } from "../../../../backend/cli/analyze/scene.ts";
import { groundPlane } from "../../../../backend/cli/drawing/ground-plane.ts";

type Xyz = readonly [number, number, number];

/** Three numbers 0..1 from an index (Park and Miller 1988, 16807 modulo 2^31 - 1). */
function mixed(k: number): Xyz {
  let state = (k * 48_271 + 1) % 2_147_483_647;
  const next = () => {
    for (let i = 0; i < 3; i += 1) state = (state * 16_807) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  return [next(), next(), next()];
}
const points = (count: number, place: (u: Xyz, k: number) => Xyz) => {
  const rows = Array.from({ length: count }, (_, k) => place(mixed(k + 1), k));
  return {
    point_count: count,
    total_count: count,
    position: Float64Array.from(rows.flat()),
    rgb: undefined,
    intensity: undefined,
  };
};
/** Land of a width and slope; every second point is a crown up to 20 m above it. */
const land = (width: number, slope: number, count = 20_000) =>
  points(count, ([x, y, z], k) => [
    width * x,
    width * y,
    slope * width * x + (k % 2 ? 0 : x > 0.3 && y > 0.4 ? 20 * z : 0),
  ]);
/** Rolling land under crowns that hide seven tenths of it; `noise` of the points lie in clumps of eight below it. */
const rolling = (width: number, noise: number) => {
  const ground = (x: number, y: number) => 0.1 * x + 1.5 * Math.sin(x / 6) * Math.cos(y / 7);
  return points(60_000, ([u, v, w], k) => {
    const [a, b, c] = mixed(Math.floor(k / 8) + 7_000_000);
    const [x, y] = [width * a + 0.1 * u, width * b + 0.1 * v];
    if (Math.floor(k / 8) % 1000 < 1000 * noise) return [x, y, ground(x, y) - 0.3 - 4 * c + 0.1 * w];
    return [width * u, width * v, ground(width * u, width * v) + (k % 10 < 3 ? 0 : 2 + 18 * w)];
  });
};

/** A scan line down a slope, whose points are near a plane from above and from below. */
const LINE = points(999, ([u, v]) => [492 * u, 102 * u + 0.05 * v, 274 - 8 * u + 0.03 * Math.sin(20 * u)]);

const room = points(20_000, ([u, v, w], k) => {
  if (k % 3 === 0) return [8 * u, 5 * v, 0];
  return k % 3 === 1 ? [8 * u, 5 * v, 2.6] : [8 * u, w > 0.5 ? 5 : 0, 2.6 * v];
});

test.each([
  ["a sloping plot", land(30, 0.3), "plot"],
  ["rolling land", rolling(50, 0), "plot"],
  ["rolling land with few clumps of noise below it", rolling(50, 0.003), "plot"],
  ["rolling land with clumps of noise below it", rolling(50, 0.01), "plot"],
  ["a flat plot", land(30, 0), "plot"],
  [
    "a plot with noise below the ground",
    points(20_000, ([x, y, z], k) => [30 * x, 30 * y, k % 40 === 0 ? -1.5 - 2.5 * z : k % 2 ? 0 : 3 + 17 * z]),
    "plot",
  ],
  ["a thin and wide scan", land(400, 0.05), "airborne"],
  [
    "a tree",
    points(20_000, ([u, v, w], k) => {
      const radius = k % 4 === 0 ? 0.2 : 4 * Math.sin(Math.PI * w);
      return [radius * Math.cos(6.28 * u) * v, radius * Math.sin(6.28 * u) * v, k % 4 === 0 ? 8 * w : 6 + 12 * w];
    }),
    "tree",
  ],
  ["a room", room, "object"],
  ["a pot", points(3000, ([u, v, w]) => [0.2 * u, 0.2 * v, 0.3 * w]), "object"],
  ["no points", points(0, (u) => u), "object"],
])("%s", (_, sample, kind) => {
  const found = detectedScene(sample);
  expect([found.kind, found.reason]).toEqual([kind, expect.stringMatching(/./)]);
});

test("a room has a ceiling, land and small things have none", () => {
  expect(ceilingOf(room)).toBeCloseTo(2.6, 6);
  expect(ceilingOf(LINE)).toBeUndefined();
  expect(ceilingOf(land(30, 0.3))).toBeUndefined();
  expect(ceilingOf(points(3000, ([x, y, z]) => [0.2 * x, 0.2 * y, 0.3 * z]))).toBeUndefined();
});

test("--scene decides", () => {
  expect(sceneOf(land(30, 0), "object")).toEqual({ kind: "object", asked: true, reason: "--scene" });
});

test("the plane rests on the lowest points, whatever stands on them", () => {
  const { share, flat_share } = groundPlane(land(30, 0.3, 40_000), "below");
  expect(share).toBeGreaterThan(0.9);
  expect(flat_share).toBeGreaterThan(0.9);
  expect(groundPlane(land(30, 0.3), "above").share).toBeLessThan(0.5);
});

test("density counts the area with points only", () => {
  const half = points(20_000, ([x, y]) => [x > 0.5 ? 100 * x : 10 * x, 100 * y, 0]);
  // 50 x 100 m with half of the points and 5 x 100 m with the others
  expect(pointDensity(half)).toBeGreaterThan(20_000 / 10_000);
  expect(pointDensity(half)).toBeCloseTo(20_000 / 5500, 0);
  expect(pointDensity({ ...half, total_count: 200_000 })).toBeCloseTo(10 * (pointDensity(half) ?? 0), 6);
  expect(pointDensity(points(1, (u) => u))).toBeNull();
});

test.each([
  [4, 100, 100, 1],
  [5.4, 200, 200, 1],
  [1, 100, 100, 2],
  [400, 100, 100, 0.1],
  [399, 100, 100, 0.2],
  [1e9, 1, 1, 0.01],
  [1e6, 3000, 3000, 5], // at most a million cells
])("density %f over %f x %f m: cells of %f m", (density, width, height, cell) => {
  expect(defaultCell(density, width, height)).toBe(cell);
});

test("the cells are whole in the true world, whatever the shift", () => {
  const box = { min: [0.3, 0.2, 0] as Xyz, max: [10.1, 5, 1] as Xyz };
  const tail = { tight_bounds: { min: [...box.min], max: [...box.max] }, world_shift: [1000.5, 0, 0] } as never;
  const place = rasterPlace(tail, land(10, 0), 2);
  expect(place?.cell_size).toBe(2);
  expect(place?.bbox).toEqual([-0.5, 0, 11.5, 6]);
});

test("trees and things without ground that fit a smaller unit are told unless the unit is stated", () => {
  const tower = (height: number) => points(4000, ([x, y, z]) => [0.1 * height * x, 0.1 * height * y, height * z]);
  const facts = (kind: "tree" | "object" | "plot", spacing_m: number | null, units_stated = false) => ({
    ...{ scene: { kind, asked: false, reason: "" }, spacing_m, units_stated },
  });
  const tall = [expect.stringMatching(/^The tree is 7\d m high, as in few forests, .*--units/)];
  expect(doubtfulSize(tower(74), facts("tree", 0.02))).toEqual(tall);
  expect(doubtfulSize(tower(74), facts("tree", 0.02, true))).toEqual([]);
  expect(doubtfulSize(tower(74), facts("plot", 0.2))).toEqual([]);
  expect(doubtfulSize(tower(30), facts("tree", 0.02))).toEqual([]);
  expect(doubtfulSize(tower(30), facts("tree", null))).toEqual([]);
  const sparse = [
    expect.stringMatching(/^The points are 11 cm apart, too far for a scan of a thing or a room, .*--units/),
  ];
  expect(doubtfulSize(tower(30), facts("object", 0.109))).toEqual(sparse);
});
