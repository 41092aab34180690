import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { rampColor } from "../../../backend/cli/color-ramp.ts";
import { eyeDomeShade } from "../../../backend/cli/eye-dome.ts";
import type { PointSample } from "../../../backend/cli/point-sample.ts";
import { colorScales, encodePng, paint, type Raster, renderPictures } from "../../../backend/cli/render.ts";
import { NO_POINT, splat, type Visibility } from "../../../backend/cli/splat.ts";
import { PICTURE_MAX_PX, sceneBox, VIEWS, type View, type ViewFrame, viewFrame } from "../../../backend/cli/view-frame.ts";

const [TOP, FRONT, SIDE] = VIEWS as [View, View, View];

function cloud(points: readonly (readonly number[])[], colors?: readonly (readonly number[])[]): PointSample {
  return {
    point_count: points.length,
    total_count: points.length,
    position: Float64Array.from(points.flat()),
    rgb: colors && Uint8Array.from(colors.flat()),
    intensity: undefined,
  };
}

function frameOf(view: View, sample: PointSample): ViewFrame {
  const box = sceneBox(sample);
  if (!box) throw new Error("no points");
  return viewFrame(view, box);
}

/** Index of the point seen in the middle of where `at` (stored x, y, z) is projected. */
function seenAt(seen: Visibility, frame: ViewFrame, at: readonly [number, number, number]): number {
  const { view, left_stored, top_stored, metres_per_px } = frame;
  const x = Math.floor((2 * (at[view.right] - left_stored)) / metres_per_px);
  const y = Math.floor((2 * (top_stored - at[view.up])) / metres_per_px);
  return seen.point[y * seen.width + x] ?? -1;
}

/** Rows (0 = top) and columns of the pixels that show point `index`, as mean shares of the picture. */
function centre(seen: Visibility, index: number) {
  let n = 0;
  let row = 0;
  let column = 0;
  for (let at = 0; at < seen.point.length; at += 1) {
    if (seen.point[at] !== index) continue;
    n += 1;
    row += Math.floor(at / seen.width) + 0.5;
    column += (at % seen.width) + 0.5;
  }
  return { row: row / n / seen.height, column: column / n / seen.width };
}

const corners = cloud([
  [0, 0, 0],
  [10, 0, 0],
  [0, 10, 5],
  [10, 10, 0],
]);

describe("where points land", () => {
  test("top view: north is up, east is right", () => {
    const seen = splat(corners, frameOf(TOP, corners));
    const northWest = centre(seen, 2);
    const southEast = centre(seen, 1);
    expect(northWest.row).toBeLessThan(0.05);
    expect(northWest.column).toBeLessThan(0.05);
    expect(southEast.row).toBeGreaterThan(0.95);
    expect(southEast.column).toBeGreaterThan(0.95);
    // 4 % of border and 10 m on the longest side: a corner lies 0.2 m of 10.4 m inside.
    expect(northWest.row).toBeCloseTo(0.2 / 10.4, 2);
  });

  test("front view: up is up, east is right, the southern point is in front", () => {
    const two = cloud([[5, 0, 1], [5, 10, 1], [0, 0, 0], [10, 0, 4]]);
    const frame = frameOf(FRONT, two);
    const seen = splat(two, frame);
    expect(seenAt(seen, frame, [5, 0, 1])).toBe(0);
    expect(centre(seen, 3).row).toBeLessThan(centre(seen, 2).row);
    expect(centre(seen, 3).column).toBeGreaterThan(0.9);
  });

  test("side view looks west: north is right, the eastern point is in front", () => {
    const two = cloud([[0, 5, 1], [10, 5, 1], [0, 0, 0], [0, 10, 4]]);
    const frame = frameOf(SIDE, two);
    const seen = splat(two, frame);
    expect(seenAt(seen, frame, [0, 5, 1])).toBe(1);
    expect(centre(seen, 3).column).toBeGreaterThan(0.9);
  });

  test("top view: the highest point wins whatever the order, also at large coordinates", () => {
    for (const order of [[1, 9], [9, 1]]) {
      const two = cloud([...order.map((z) => [5e6, 5e6, z]), [5e6 - 5, 5e6 - 5, 0], [5e6 + 5, 5e6 + 5, 0]]);
      const frame = frameOf(TOP, two);
      expect(seenAt(splat(two, frame), frame, [5e6, 5e6, 0])).toBe(order.indexOf(9));
    }
  });
});

describe("pictures of hard clouds", () => {
  test.each([
    ["one point", [[1, 2, 3]]],
    ["duplicates", Array.from({ length: 5000 }, () => [1e7, -1e7, 3])],
    ["a line", Array.from({ length: 100 }, (_, i) => [i, 0, 0])],
    ["a vertical line", Array.from({ length: 100 }, (_, i) => [0, 0, i])],
  ])("%s can be drawn", async (_, points) => {
    const pictures = await renderPictures(cloud(points));
    expect(pictures.map(({ frame }) => frame.view.name)).toEqual(["top", "front", "side"]);
    for (const { frame, png, drawn_count } of pictures) {
      const { width, height, data } = PNG.sync.read(Buffer.from(png));
      expect([width, height]).toEqual([frame.width_px, frame.height_px]);
      expect(Math.max(width, height)).toBeLessThanOrEqual(PICTURE_MAX_PX);
      expect(drawn_count).toBe(points.length);
      expect(data.some((value) => value < 200)).toBe(true);
    }
  });

  test("no points, no pictures", async () => {
    expect(await renderPictures(cloud([]))).toEqual([]);
  });

  test("a stray point far away does not shrink the cloud, and is counted as not drawn", () => {
    const grid = Array.from({ length: 10_000 }, (_, i) => [i % 100, Math.floor(i / 100), 0]);
    const sample = cloud([...grid, [1e7, 50, 0]]);
    const frame = frameOf(TOP, sample);
    expect(frame.metres_per_px * frame.width_px).toBeLessThan(400);
    expect(splat(sample, frame).drawn_count).toBe(10_000);
  });

  test("a tree over flat ground is not cut off by the p1..p99 box", () => {
    const ground = Array.from({ length: 10_000 }, (_, i) => [i % 100, Math.floor(i / 100), 0]);
    expect(sceneBox(cloud([...ground, [50, 50, 30]]))?.max[2]).toBe(30);
  });
});

test("splats close a sampled surface and keep its outline", () => {
  // A jittered lattice as a scanner gives it; the fixed formula stands for noise.
  const points = Array.from({ length: 40_000 }, (_, i) => {
    const [x, y] = [i % 200, Math.floor(i / 200)];
    return [x + 0.4 * Math.sin(i * 12.9898), y + 0.4 * Math.sin(i * 78.233), 0];
  });
  const sample = cloud(points);
  const frame = frameOf(TOP, sample);
  const seen = splat(sample, frame);
  let holes = 0;
  const margin = Math.round(seen.width * 0.04);
  for (let y = margin; y < seen.height - margin; y += 1) {
    for (let x = margin; x < seen.width - margin; x += 1) {
      if (seen.point[y * seen.width + x] === NO_POINT) holes += 1;
    }
  }
  expect(holes).toBe(0);
  expect(seen.point[0]).toBe(NO_POINT);
  expect(seen.diameter).toBeGreaterThan(16);
});

test("gaps wider than the splats stay open", () => {
  const points = Array.from({ length: 20_000 }, (_, i) => [i % 200, Math.floor(i / 200), 0]).filter(
    ([x = 0, y = 0]) => Math.hypot(x - 100, y - 50) > 10,
  );
  const sample = cloud(points);
  const frame = frameOf(TOP, sample);
  expect(seenAt(splat(sample, frame), frame, [100, 50, 0])).toBe(NO_POINT);
});

describe("colours", () => {
  const pixel = ({ data, width }: Raster, x: number, y: number) => [...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4)];

  test("a pixel is the mean of its four subpixels over white", () => {
    const sample = cloud([[0, 0, 0], [0, 0, 1]], [[200, 0, 0], [0, 100, 0]]);
    const seen: Visibility = {
      width: 2,
      height: 2,
      point: Uint32Array.of(0, 1, NO_POINT, NO_POINT),
      depth: Float32Array.of(0, 0, -Infinity, -Infinity),
      diameter: 2,
      drawn_count: 2,
    };
    const shade = Uint8Array.of(255, 255, 255, 255);
    const raster = paint(sample, seen, shade, { mode: "rgb", ramp: undefined, range: [0, 255] });
    expect(pixel(raster, 0, 0)).toEqual([(200 + 255 + 255) / 4, (100 + 255 + 255) / 4, (255 + 255) / 4, 255].map(Math.round));
  });

  test("the lowest point takes the ramp's first colour, the highest its last", () => {
    const sample = cloud([[0, 0, 0], [10, 0, 10]]);
    const frame = frameOf(FRONT, sample);
    const seen = splat(sample, frame);
    const flat = new Uint8Array(seen.point.length).fill(255);
    const raster = paint(sample, seen, flat, { mode: "height", ramp: "viridis", range: [0, 10] });
    const at = (index: number) => {
      const { row, column } = centre(seen, index);
      return pixel(raster, Math.floor(column * raster.width), Math.floor(row * raster.height)).slice(0, 3);
    };
    expect(at(0)).toEqual([0x44, 0x01, 0x54]);
    expect(at(1)).toEqual([0xfd, 0xe7, 0x25]);
  });

  test("the ramp is read linearly between its entries and clamped", () => {
    expect(rampColor("viridis", 0.5)).toEqual([0x21, 0x91, 0x8c]);
    expect(rampColor("viridis", -1)).toEqual(rampColor("viridis", 0));
    expect(rampColor("viridis", 7)).toEqual(rampColor("viridis", 1));
    expect(rampColor("viridis", Number.NaN)).toEqual(rampColor("viridis", 0));
    expect(rampColor("viridis", 0.05)).toEqual([0x46, 0x13, 0x65]);
  });

  test("modes without information are left out", () => {
    const points = [[0, 0, 0], [1, 1, 1], [2, 2, 2]];
    const modes = (sample: PointSample) => colorScales(sample).map(({ mode }) => mode);
    expect(modes(cloud(points))).toEqual(["height"]);
    expect(modes(cloud(points, [[9, 8, 7], [9, 8, 7], [9, 8, 7]]))).toEqual(["height"]);
    expect(modes(cloud(points, [[9, 8, 7], [9, 8, 7], [9, 9, 7]]))).toEqual(["height", "rgb"]);
    expect(modes({ ...cloud(points), intensity: Float32Array.of(5, 5, 5) })).toEqual(["height"]);
    expect(modes({ ...cloud(points), intensity: Float32Array.of(5, 6, Number.NaN) })).toEqual(["height", "intensity"]);
  });
});

test("eye-dome lighting darkens what lies behind an edge, not the edge itself", () => {
  const size = 64;
  const depth = Float32Array.from({ length: size * size }, (_, at) => (at % size < size / 2 ? 0 : 10));
  const seen: Visibility = {
    width: size,
    height: size,
    point: new Uint32Array(size * size),
    depth,
    diameter: 2,
    drawn_count: 1,
  };
  const frame: ViewFrame = { view: TOP, width_px: 32, height_px: 32, metres_per_px: 0.1, left_stored: 0, top_stored: 0 };
  const shade = eyeDomeShade(seen, frame);
  const row = shade.subarray(32 * size, 33 * size);
  expect(row[4]).toBe(255); // far from the edge
  expect(row[31]).toBeLessThan(190); // lower side, at the edge
  expect(row[32]).toBe(255); // upper side
  expect(row[29]).toBeGreaterThan(row[31] ?? 255);
});

test("a PNG holds exactly the raster", async () => {
  const data = Uint8Array.from({ length: 4 * 6 }, (_, i) => (i % 4 === 3 ? 255 : i * 9));
  const read = PNG.sync.read(Buffer.from(await encodePng({ width: 3, height: 2, data })));
  expect([...read.data]).toEqual([...data]);
});

test("rendering stops at the next step after an abort and reports its progress before", async () => {
  const controller = new AbortController();
  const seen: number[] = [];
  const drawing = renderPictures(corners, {
    signal: controller.signal,
    onProgress: (done, total) => {
      seen.push(done / total);
      controller.abort(new Error("stop"));
    },
  });
  await expect(drawing).rejects.toThrow("stop");
  expect(seen).toEqual([1 / 3]);
});
