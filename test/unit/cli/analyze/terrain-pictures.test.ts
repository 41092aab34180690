import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { CLASS_COLORS, classOf, groundProfile, terrainLine } from "../../../../backend/cli/drawing/ground-profile.ts";
import type { PointSample } from "../../../../backend/cli/drawing/point-sample.ts";
import { canopyPicture, drawGrid, hillshadePicture } from "../../../../backend/cli/drawing/raster-picture.ts";
import { layerAt, type SurfaceGrid } from "../../../../backend/cli/drawing/surface-grid.ts";

const NONE = Number.NaN;
/** 3 x 2 cells of 10 m; row 0 is the southern one. */
const GRID: SurfaceGrid = {
  nx: 3,
  ny: 2,
  cell: 10,
  origin: [100, 200],
  z: Float32Array.of(0, 1, NONE, 4, 5, 6),
  hillshade: Float32Array.of(1, 0, 1, 1, 1, 1),
};
const rgbAt = (png: Uint8Array, x: number, y: number) => {
  const { width, data } = PNG.sync.read(Buffer.from(png));
  return [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3)];
};
const WHITE = [255, 255, 255];

test("raster: north is up, voids are white, shade darkens, colour follows height", async () => {
  const picture = await hillshadePicture(GRID, 312);
  if (!picture) throw new Error("no picture");
  const { frame, png, bar } = picture;
  expect([frame.width_px, frame.height_px]).toEqual([312, 213]);
  const pixel = (x: number, y: number) =>
    rgbAt(
      png,
      Math.floor((x - frame.left_stored) / frame.metres_per_px),
      Math.floor((frame.top_stored - y) / frame.metres_per_px),
    );
  expect(pixel(125, 205)).toEqual(WHITE); // the void
  expect(pixel(99.9, 205)).toEqual(WHITE); // beside the raster
  const [high, low, shaded] = [pixel(125, 215), pixel(105, 205), pixel(115, 205)];
  expect(high).toEqual([0xfd, 0xe7, 0x25]);
  expect(low).toEqual([0x44, 0x01, 0x54]);
  const plain = drawGrid(GRID, frame, bar);
  const at =
    4 *
    (Math.floor((frame.top_stored - 205) / frame.metres_per_px) * frame.width_px +
      Math.floor((115 - frame.left_stored) / frame.metres_per_px));
  for (const [k, value] of [...plain.data.subarray(at, at + 3)].entries())
    expect(Math.abs((shaded[k] ?? 0) - value * 0.25)).toBeLessThan(2); // 0.5 m beside the cell centre
});

test("blocks: each cell has one colour, that of its value", async () => {
  const picture = await canopyPicture(GRID, 312);
  if (!picture) throw new Error("no picture");
  const { frame } = picture;
  const colours = (blocks: { blocks?: true }) => {
    const { data } = drawGrid(GRID, frame, { ramp: "viridis", range: [0, 6], ...blocks });
    const found = new Map<string, number>();
    for (let at = 0; at < data.length; at += 4) {
      const colour = data.subarray(at, at + 3).join();
      if (colour !== WHITE.join()) found.set(colour, (found.get(colour) ?? 0) + 1);
    }
    return found;
  };
  expect(colours({}).size).toBeGreaterThan(20);
  const blocks = colours({ blocks: true });
  expect(blocks.size).toBe(5);
  const square = (10 / frame.metres_per_px) ** 2;
  for (const count of blocks.values()) expect(count / square).toBeCloseTo(1, 1);
  expect(blocks.has("68,1,84")).toBe(true); // the cell of 0
});

test("a canopy begins at 0; a raster of voids gives no picture", async () => {
  expect((await canopyPicture(GRID, 300))?.bar.range[0]).toBe(0);
  expect(await canopyPicture({ ...GRID, z: new Float32Array(6).fill(NONE) }, 300)).toBeUndefined();
});

test("the terrain along a line has the centres of the cells, and a void ends a run", () => {
  expect(terrainLine(GRID, 0, 205)).toEqual([
    [
      [105, 0],
      [115, 1],
    ],
  ]);
  expect(terrainLine({ ...GRID, z: Float32Array.of(0, NONE, 2, 4, 5, 6) }, 0, 205)).toHaveLength(2);
  expect(terrainLine(GRID, 1, 105)).toEqual([
    [
      [205, 0],
      [215, 4],
    ],
  ]);
  expect(terrainLine(GRID, 0, 250)).toEqual([]);
});

/** Points along x at y = 0, a lone one of noise, and points beside the slice. */
function sampleOf(): PointSample {
  const rows = [
    ...Array.from({ length: 40 }, (_, i) => [i, 0.2 * (i % 3), 0, 1, 1]),
    ...Array.from({ length: 20 }, (_, i) => [2 * i, 0.9, 8, 2, 1]),
    [20, 0.5, 14, 2, 2],
    ...Array.from({ length: 10 }, (_, i) => [4 * i, 5, 3, 2, 1]),
  ];
  return {
    point_count: rows.length,
    total_count: rows.length,
    position: Float64Array.from(rows.flatMap((row) => row.slice(0, 3))),
    rgb: undefined,
    intensity: undefined,
    ground: Uint8Array.from(rows, (row) => row[3] ?? 0),
    noise: Uint8Array.from(rows, (row) => row[4] ?? 0),
  };
}

test("profile: 2 m slice along the longer axis, classes counted and coloured, the terrain as a line", async () => {
  const sample = sampleOf();
  const grid: SurfaceGrid = { nx: 2, ny: 1, cell: 20, origin: [0, -5], z: Float32Array.of(4, 4), hillshade: undefined };
  const profile = await groundProfile(sample, { ...grid, ny: 1, cell: 20 }, 400);
  if (!profile) throw new Error("no profile");
  expect(profile.counts).toEqual({ ground: 40, plant: 20, noise: 1 });
  expect(profile.frame.view.right).toBe(0);
  expect(profile.at_stored).toBeCloseTo(0.4, 9);
  const { frame } = profile;
  const pixel = (x: number, z: number) =>
    rgbAt(
      profile.png,
      Math.floor((x - frame.left_stored) / frame.metres_per_px),
      Math.floor((frame.top_stored - z) / frame.metres_per_px),
    );
  expect(pixel(20, 14)).toEqual([...CLASS_COLORS.noise]);
  expect(pixel(10, 0)).toEqual([...CLASS_COLORS.ground]);
  expect(pixel(10, 8)).toEqual([...CLASS_COLORS.plant]);
  expect(pixel(20, 4)).toEqual([0x10, 0x15, 0x1c]);
  expect(pixel(35, 6)).toEqual(WHITE);
});

test("a cloud along y is sliced along y; noise takes precedence over ground; no points give no profile", async () => {
  const sample = sampleOf();
  const turned = {
    ...sample,
    position: sample.position.map((_, i, all) => all[[1, 0, 2][i % 3] === 1 ? i + 1 : i % 3 === 1 ? i - 1 : i] ?? 0),
  };
  expect((await groundProfile(turned, null, 300))?.frame.view.right).toBe(1);
  expect(classOf({ ...sample, ground: Uint8Array.of(1), noise: Uint8Array.of(2) }, 0)).toBe("noise");
  expect(classOf({ ...sample, ground: undefined, noise: undefined }, 0)).toBe("plant");
  expect(await groundProfile({ ...sample, point_count: 0, position: new Float64Array() }, null, 300)).toBeUndefined();
});

test("between cell centres a plane stays a plane; voids and places outside have no value", () => {
  const plane = { nx: 4, ny: 3, cell: 2, origin: [10, 20] as const };
  const height = (x: number, y: number) => 0.5 * x - 2 * y;
  const z = Float32Array.from({ length: 12 }, (_, k) => height(11 + 2 * (k % 4), 21 + 2 * Math.floor(k / 4)));
  for (const [x, y] of [
    [11, 21],
    [12.3, 22.9],
    [16.99, 24.5],
  ] as const)
    expect(layerAt(plane, z, x, y)).toBeCloseTo(height(x, y), 5);
  expect(layerAt(plane, z, 10, 20)).toBe(z[0]); // the corner: one centre only
  expect(layerAt(plane, z, 9.9, 21)).toBeNaN();
  z[0] = Number.NaN;
  expect(layerAt(plane, z, 11.9, 21.9)).toBeNaN();
  expect(layerAt(plane, z, 12.1, 21)).toBeCloseTo(height(13, 21), 5);
});

test("the profile: what lies in the layer of the ground is brown whatever its label", async () => {
  const flat = { nx: 10, ny: 10, cell: 1, origin: [0, 0] as const, z: new Float32Array(100), hillshade: undefined };
  const heights = [0, 0.05, -0.3, 0.2, 3, -0.7]; // the last one was left out of the ground: a mirror image
  const sample: PointSample = {
    point_count: 6,
    total_count: 6,
    position: Float64Array.from(heights.flatMap((z, k) => [1 + 1.5 * k, 5, z])),
    rgb: undefined,
    intensity: undefined,
    ground: Uint8Array.of(1, 2, 2, 2, 2, 2),
  };
  expect((await groundProfile(sample, flat, 300))?.counts).toEqual({ ground: 3, plant: 3, noise: 0 });
  expect((await groundProfile(sample, null, 300))?.counts).toEqual({ ground: 1, plant: 5, noise: 0 });
});
