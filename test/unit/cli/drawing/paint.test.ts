import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { rampColor } from "../../../../backend/cli/drawing/color-ramp.ts";
import { eyeDomeShade } from "../../../../backend/cli/drawing/eye-dome.ts";
import type { PointSample } from "../../../../backend/cli/drawing/point-sample.ts";
import { colorScales, encodePng, paint, type Raster } from "../../../../backend/cli/drawing/render.ts";
import { splat } from "../../../../backend/cli/drawing/splat.ts";
import type { ViewFrame } from "../../../../backend/cli/drawing/view-frame.ts";
import { NO_POINT, type Visibility } from "../../../../backend/cli/drawing/visibility.ts";
import { centre, cloud, FRONT, frameOf, TOP } from "../../../support/cli/drawn-cloud.ts";

describe("colours", () => {
  const pixel = ({ data, width }: Raster, x: number, y: number) => [
    ...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 4),
  ];

  test("a pixel is the mean of its four subpixels on white", () => {
    const sample = cloud(
      [
        [0, 0, 0],
        [0, 0, 1],
      ],
      [
        [200, 0, 0],
        [0, 100, 0],
      ],
    );
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
    expect(pixel(raster, 0, 0)).toEqual(
      [(200 + 255 + 255) / 4, (100 + 255 + 255) / 4, (255 + 255) / 4, 255].map(Math.round),
    );
  });

  test("the lowest point gets the first colour of the ramp, the highest the last", () => {
    const sample = cloud([
      [0, 0, 0],
      [10, 0, 10],
    ]);
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

  test("the ramp is interpolated linearly and clamped", () => {
    expect(rampColor("viridis", 0.5)).toEqual([0x21, 0x91, 0x8c]);
    expect(rampColor("viridis", -1)).toEqual(rampColor("viridis", 0));
    expect(rampColor("viridis", 7)).toEqual(rampColor("viridis", 1));
    expect(rampColor("viridis", Number.NaN)).toEqual(rampColor("viridis", 0));
    expect(rampColor("viridis", 0.05)).toEqual([0x46, 0x13, 0x65]);
  });

  test("modes without information are left out", () => {
    const points = [
      [0, 0, 0],
      [1, 1, 1],
      [2, 2, 2],
    ];
    const modes = (sample: PointSample) => colorScales(sample).map(({ mode }) => mode);
    expect(modes(cloud(points))).toEqual(["height"]);
    expect(
      modes(
        cloud(points, [
          [9, 8, 7],
          [9, 8, 7],
          [9, 8, 7],
        ]),
      ),
    ).toEqual(["height"]);
    expect(
      modes(
        cloud(points, [
          [9, 8, 7],
          [9, 8, 7],
          [9, 9, 7],
        ]),
      ),
    ).toEqual(["height", "rgb"]);
    expect(modes({ ...cloud(points), intensity: Float32Array.of(5, 5, 5) })).toEqual(["height"]);
    expect(modes({ ...cloud(points), intensity: Float32Array.of(5, 6, Number.NaN) })).toEqual(["height", "intensity"]);
  });
});

test("eye-dome lighting darkens what is behind an edge, not the edge itself", () => {
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
  const frame: ViewFrame = {
    view: TOP,
    width_px: 32,
    height_px: 32,
    metres_per_px: 0.1,
    left_stored: 0,
    top_stored: 0,
  };
  const shade = eyeDomeShade(seen, frame);
  const row = shade.subarray(32 * size, 33 * size);
  expect(row[4]).toBe(255); // far from the edge
  expect(row[31]).toBeLessThan(190); // lower side, at the edge
  expect(row[32]).toBe(255); // upper side
  expect(row[29]).toBeGreaterThan(row[31] ?? 255);
});

test("a PNG contains exactly the raster", async () => {
  const data = Uint8Array.from({ length: 4 * 6 }, (_, i) => (i % 4 === 3 ? 255 : i * 9));
  const read = PNG.sync.read(Buffer.from(await encodePng({ width: 3, height: 2, data })));
  expect([...read.data]).toEqual([...data]);
});

test("a cloud with a single height gets the middle of the ramp", () => {
  const sample = cloud([
    [0, 0, 7],
    [1, 0, 7],
  ]);
  const seen: Visibility = {
    width: 2,
    height: 2,
    point: new Uint32Array(4),
    depth: new Float32Array(4),
    diameter: 2,
    drawn_count: 2,
  };
  const [scale] = colorScales(sample);
  if (!scale) throw new Error("no height scale");
  const { data } = paint(sample, seen, new Uint8Array(4).fill(255), scale);
  expect([...data.subarray(0, 3)]).toEqual(rampColor("viridis", 128 / 255));
});
