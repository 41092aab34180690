import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { renderPictures } from "../../../../backend/cli/drawing/render.ts";
import { splat } from "../../../../backend/cli/drawing/splat.ts";
import { sceneBox } from "../../../../backend/cli/drawing/view-frame.ts";
import { NO_POINT } from "../../../../backend/cli/drawing/visibility.ts";
import { centre, cloud, FRONT, frameOf, SIDE, seenAt, TOP } from "../../../support/cli/drawn-cloud.ts";

const corners = cloud([
  [0, 0, 0],
  [10, 0, 0],
  [0, 10, 5],
  [10, 10, 0],
]);

describe("where points are drawn", () => {
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
    const two = cloud([
      [5, 0, 1],
      [5, 10, 1],
      [0, 0, 0],
      [10, 0, 4],
    ]);
    const frame = frameOf(FRONT, two);
    const seen = splat(two, frame);
    expect(seenAt(seen, frame, [5, 0, 1])).toBe(0);
    expect(centre(seen, 3).row).toBeLessThan(centre(seen, 2).row);
    expect(centre(seen, 3).column).toBeGreaterThan(0.9);
  });

  test("side view looks west: north is right, the eastern point is in front", () => {
    const two = cloud([
      [0, 5, 1],
      [10, 5, 1],
      [0, 0, 0],
      [0, 10, 4],
    ]);
    const frame = frameOf(SIDE, two);
    const seen = splat(two, frame);
    expect(seenAt(seen, frame, [0, 5, 1])).toBe(1);
    expect(centre(seen, 3).column).toBeGreaterThan(0.9);
  });

  test("top view: the highest point is visible in any order, also at large coordinates", () => {
    for (const order of [
      [1, 9],
      [9, 1],
    ]) {
      const two = cloud([...order.map((z) => [5e6, 5e6, z]), [5e6 - 5, 5e6 - 5, 0], [5e6 + 5, 5e6 + 5, 0]]);
      const frame = frameOf(TOP, two);
      expect(seenAt(splat(two, frame), frame, [5e6, 5e6, 0])).toBe(order.indexOf(9));
    }
  });
});

test("the plan of a room shows what lies below its ceiling, the top view does not", async () => {
  const square = Array.from({ length: 900 }, (_, i) => [(i % 30) / 10, Math.floor(i / 30) / 10] as const);
  const room = [...square.map(([x, y]) => [x, y, 2.5]), ...square.filter(([x]) => x < 1).map(([x, y]) => [x, y, 0])];
  const pictures = await renderPictures(cloud(room), { longest_px: 200, ceiling_stored: 2.5 });
  expect(pictures.map(({ frame }) => frame.view.name)).toEqual(["plan", "top", "front", "side"]);
  const [plan, top] = pictures.map(({ png }) => PNG.sync.read(Buffer.from(png)));
  const empty = ({ data, width, height }: PNG) =>
    data.filter((value, at) => at % 4 === 0 && value === 255).length / (width * height);
  expect(empty(top as PNG)).toBeLessThan(0.2);
  expect(empty(plan as PNG)).toBeGreaterThan(0.6);
  expect(pictures.map(({ shown_count, drawn_count }) => [shown_count, drawn_count])).toEqual([
    [300, 300],
    ...[1200, 1200, 1200].map((n) => [n, n]),
  ]);
});

describe("pictures of difficult clouds", () => {
  test.each([
    ["one point", [[1, 2, 3]]],
    ["duplicates", Array.from({ length: 5000 }, () => [1e7, -1e7, 3])],
    ["a line", Array.from({ length: 100 }, (_, i) => [i, 0, 0])],
    ["a vertical line", Array.from({ length: 100 }, (_, i) => [0, 0, i])],
  ])("%s can be drawn", async (_, points) => {
    const pictures = await renderPictures(cloud(points), { longest_px: 300 });
    expect(pictures.map(({ frame }) => frame.view.name)).toEqual(["top", "front", "side"]);
    for (const { frame, png, drawn_count } of pictures) {
      const { width, height, data } = PNG.sync.read(Buffer.from(png));
      expect([width, height]).toEqual([frame.width_px, frame.height_px]);
      expect(Math.max(width, height)).toBeLessThanOrEqual(300);
      expect(drawn_count).toBe(points.length);
      expect(data.some((value) => value < 200)).toBe(true);
    }
  });

  test("a cloud without points gives no pictures", async () => {
    expect(await renderPictures(cloud([]))).toEqual([]);
  });

  test("a distant stray point does not shrink the cloud and counts as not drawn", () => {
    const grid = Array.from({ length: 10_000 }, (_, i) => [i % 100, Math.floor(i / 100), 0]);
    const sample = cloud([...grid, [1e7, 50, 0]]);
    const frame = frameOf(TOP, sample);
    expect(frame.metres_per_px * frame.width_px).toBeCloseTo(1.04 * 99, 0);
    expect(splat(sample, frame).drawn_count).toBe(10_000);
  });

  test("the p1..p99 box does not cut off a tree on flat ground", () => {
    const ground = Array.from({ length: 10_000 }, (_, i) => [i % 100, Math.floor(i / 100), 0]);
    expect(sceneBox(cloud([...ground, [50, 50, 30]]))?.max[2]).toBe(30);
  });
});

test("splats close a sampled surface and keep its outline", () => {
  // A jittered lattice as a scanner gives it, cut to a round plate; the fixed formula stands for noise.
  const points = Array.from({ length: 2_500 }, (_, i) => {
    const [x, y] = [(i % 50) - 25, Math.floor(i / 50) - 25];
    return [x + 0.4 * Math.sin(i * 12.9898), y + 0.4 * Math.sin(i * 78.233), 0];
  }).filter(([x = 0, y = 0]) => Math.hypot(x, y) < 25);
  const sample = cloud(points);
  const frame = frameOf(TOP, sample);
  const seen = splat(sample, frame);
  let holes = 0;
  let outside = 0;
  for (let at = 0; at < seen.point.length; at += 1) {
    const x = frame.left_stored + ((at % seen.width) + 0.5) * (frame.metres_per_px / 2);
    const y = frame.top_stored - (Math.floor(at / seen.width) + 0.5) * (frame.metres_per_px / 2);
    const radius = Math.hypot(x, y);
    if (radius < 23.5 && seen.point[at] === NO_POINT) holes += 1;
    if (radius > 27 && seen.point[at] !== NO_POINT) outside += 1;
  }
  expect([holes, outside]).toEqual([0, 0]);
});

test("gaps wider than the splats stay open", () => {
  const points = Array.from({ length: 20_000 }, (_, i) => [i % 200, Math.floor(i / 200), 0]).filter(
    ([x = 0, y = 0]) => Math.hypot(x - 100, y - 50) > 10,
  );
  const sample = cloud(points);
  const frame = frameOf(TOP, sample);
  expect(seenAt(splat(sample, frame), frame, [100, 50, 0])).toBe(NO_POINT);
});

test("rendering stops at the next step after an abort and reports progress until then", async () => {
  const controller = new AbortController();
  const seen: number[] = [];
  const drawing = renderPictures(corners, {
    longest_px: 200,
    signal: controller.signal,
    onProgress: (done, total) => {
      seen.push(done / total);
      controller.abort(new Error("stop"));
    },
  });
  await expect(drawing).rejects.toThrow("stop");
  expect(seen).toEqual([1 / 3]);
});
