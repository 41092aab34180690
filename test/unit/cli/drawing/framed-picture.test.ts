import { describe, expect, test } from "vitest";
import { fittingTicks } from "../../../../backend/cli/drawing/axes.ts";
import { Canvas, textWidth } from "../../../../backend/cli/drawing/canvas.ts";
import { fitPictures, reduced } from "../../../../backend/cli/drawing/embedded-size.ts";
import { decodePng, framedPicture } from "../../../../backend/cli/drawing/framed-picture.ts";
import { encodePng } from "../../../../backend/cli/drawing/render.ts";
import { VIEWS, viewFrame } from "../../../../backend/cli/drawing/view-frame.ts";

/** Noise that no PNG filter compresses. */
function noisy(width: number, height: number) {
  let state = 7;
  const data = Uint8Array.from({ length: 4 * width * height }, (_, k) => {
    state = (state * 16_807) % 2_147_483_647;
    return k % 4 === 3 ? 255 : state & 255;
  });
  return { width, height, data };
}
const pixel = ({ width, data }: { width: number; data: Uint8Array }, x: number, y: number) => [
  ...data.subarray(4 * (y * width + x), 4 * (y * width + x) + 3),
];

test.each([
  [476_000, 476_001.3, 300],
  [-0.061, 0.095, 180],
  [5_400_000, 5_400_000.0004, 910],
  [0, 1e7, 200],
  [-3, 3, 40],
])("labels from %f to %f on %i pixels stay apart", (low, high, length) => {
  const ticks = fittingTicks(low, high, length, textWidth, 8);
  expect(ticks.length).toBeGreaterThan(0);
  for (const [k, { value, text }] of ticks.entries()) {
    const before = ticks[k - 1];
    if (!before) continue;
    const room = ((value - before.value) / (high - low)) * length;
    expect(room).toBeGreaterThanOrEqual((textWidth(text) + textWidth(before.text)) / 2 + 8 - 1e-6);
  }
});

describe("a framed picture", () => {
  const frame = (name: string) => {
    const view = VIEWS.find((one) => one.name === name);
    if (!view) throw new Error("no such view");
    return viewFrame(view, { min: [0, 0, 0], max: [20, 10, 5] }, 300);
  };
  const framed = async (name: string) => {
    const shown = frame(name);
    const picture = noisy(shown.width_px, shown.height_px);
    const bar = { ramp: "viridis" as const, range: [0, 5] as const, unit: "z, m" };
    const png = await framedPicture(picture, { title: "Title", frame: shown, world_shift: [1000, 0, 0], bar });
    return { picture, whole: decodePng(png) };
  };

  test("holds the picture unchanged, with ink on every side of it", async () => {
    const { picture, whole } = await framed("top");
    let at = -1;
    for (let x = 0; at < 0 && x < whole.width - picture.width; x += 1)
      if ([0, 1, 2].every((k) => pixel(whole, x + k, 44).join() === pixel(picture, k, 0).join())) at = x;
    expect(at).toBeGreaterThan(40);
    for (const y of [0, 57, picture.height - 1]) expect(pixel(whole, at + 100, 44 + y)).toEqual(pixel(picture, 100, y));
    const dark = (x0: number, y0: number, x1: number, y1: number) => {
      let n = 0;
      for (let y = y0; y < y1; y += 1)
        for (let x = x0; x < x1; x += 1) if ((pixel(whole, x, y)[0] ?? 255) < 100) n += 1;
      return n;
    };
    const [right, below] = [at + picture.width + 2, 44 + picture.height + 2];
    expect(dark(at, 0, right, 40)).toBeGreaterThan(50); // title
    expect(dark(0, 44, at - 2, below)).toBeGreaterThan(50); // heights
    expect(dark(at, below, right, whole.height)).toBeGreaterThan(200); // axis and scale bar
    expect(dark(right, 44, whole.width, below)).toBeGreaterThan(50); // arrow and colour bar
  });

  test("only a top view has a north arrow", async () => {
    const ink = async (name: string) => {
      const shown = frame(name);
      const blank = {
        width: shown.width_px,
        height: shown.height_px,
        data: new Uint8Array(4 * shown.width_px * shown.height_px).fill(255),
      };
      const furniture = { title: "", frame: shown, world_shift: [0, 0, 0] as const, bar: null };
      const whole = decodePng(await framedPicture(blank, furniture));
      let n = 0;
      for (let y = 46; y < 43 + blank.height; y += 1)
        for (let x = blank.width + 130; x < whole.width; x += 1) n += (pixel(whole, x, y)[0] ?? 0) < 100 ? 1 : 0;
      return n;
    };
    expect(await ink("top")).toBeGreaterThan(100);
    expect(await ink("front")).toBe(0);
  });

  test("a letter that the font lacks is a mark, not a gap", () => {
    const canvas = new Canvas(60, 30);
    canvas.text("\u6f22", 5, 20);
    expect(canvas.data.some((value) => value < 128)).toBe(true);
  });
});

test("reducing keeps the mean; a picture that fits is not touched", async () => {
  const picture = noisy(90, 60);
  const mean = ({ data }: { data: Uint8Array }) =>
    data.reduce((sum, value, k) => sum + (k % 4 === 3 ? 0 : value), 0) / (0.75 * data.length);
  const small = reduced(picture, 1 / 3);
  expect([small.width, small.height]).toEqual([30, 20]);
  expect(mean(small)).toBeCloseTo(mean(picture), 0);
  const png = await encodePng(picture);
  expect((await fitPictures([png], 1e6))[0]).toBe(png);
});

test("pictures shrink until they fit, the largest first", async () => {
  const [large, little] = [await encodePng(noisy(700, 500)), await encodePng(noisy(60, 40))];
  const [shrunk, same] = await fitPictures([large, little], 300_000);
  expect(((shrunk?.length ?? 0) + little.length) * (4 / 3)).toBeLessThan(300_000);
  expect(shrunk?.length).toBeGreaterThan(60_000);
  expect(same).toBe(little);
});
