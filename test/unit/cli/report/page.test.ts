import { expect, test } from "vitest";
import { chartPicture } from "../../../../backend/cli/drawing/chart.ts";
import { decodePng } from "../../../../backend/cli/drawing/framed-picture.ts";
import { encodePng } from "../../../../backend/cli/drawing/render.ts";
import { PAGE_BYTES, type Page, pageHtml, smallPage } from "../../../../backend/cli/report/page.ts";

/** Noise that no PNG filter compresses. */
function noisy(side: number) {
  let state = 7;
  const data = Uint8Array.from({ length: 4 * side * side }, (_, k) => {
    state = (state * 16_807) % 2_147_483_647;
    return k % 4 === 3 ? 255 : state & 255;
  });
  return encodePng({ width: side, height: side, data });
}

const page = (change: Partial<Page> = {}): Page => ({
  kicker: "Report",
  title: "a<b>.las",
  created: new Date(Date.UTC(2024, 0, 2)),
  tiles: [["3", "points"]],
  warnings: [],
  sections: [],
  footer: "end",
  ...change,
});

test("texts are escaped, and nothing is loaded from elsewhere", () => {
  const hostile = '<script>alert("1")</script>\u202e';
  const section = { title: hostile, facts: [[hostile, hostile]] as const, note: hostile };
  const html = pageHtml(
    page({ title: hostile, warnings: [hostile], tiles: [[hostile, hostile]], sections: [section], footer: hostile }),
  );
  expect(html).not.toMatch(/<script|\u202e/);
  expect(html.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(9);
  expect(html).toContain("default-src 'none'; img-src data:");
  expect(html).toContain("2024-01-02 00:00 UTC");
});

test("pictures are reduced until the page fits, and keep their place on it", async () => {
  const png = await noisy(1300);
  const figures = [1, 2, 3].map((k) => ({ title: `figure ${k}`, png }));
  const html = await smallPage(page({ sections: [{ title: "Pictures", figures }] }));
  expect(3 * png.length).toBeGreaterThan(PAGE_BYTES);
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(PAGE_BYTES);
  expect(html.match(/<figure style="width:997px">/g)).toHaveLength(3); // three quarters of 1300, and the padding
  expect(html.match(/src="data:image\/png/g)).toHaveLength(3);
});

test("a chart has its values where its axes say", async () => {
  const red = [255, 0, 0] as const;
  const axis = (title: string) => ({ title, range: [0, 10] as const });
  const bars = [
    [0, 10],
    [5, 0],
    [10, 0],
  ] as const;
  const png = await chartPicture({
    title: "t",
    x: axis("x"),
    y: axis("y"),
    series: [{ color: red, points: bars, is_bars: true }],
  });
  const { width, height, data } = decodePng(png);
  const columns: number[] = [];
  const rows: number[] = [];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = 4 * (y * width + x);
      if (data[at] === 255 && data[at + 1] === 0) {
        columns.push(x);
        rows.push(y);
      }
    }
  const extent = (values: readonly number[]) =>
    values.reduce((m, v) => Math.max(m, v), 0) - values.reduce((m, v) => Math.min(m, v), Infinity);
  // Half of 1000 pixels wide, and all of 460 high.
  expect(Math.abs(extent(columns) - 498)).toBeLessThanOrEqual(2);
  expect(Math.abs(extent(rows) - 459)).toBeLessThanOrEqual(2);
});

test("a logarithmic chart gives equal ratios equal lengths", async () => {
  const blue = [0, 0, 255] as const;
  const y = { title: "y", range: [0.001, 10] as const, is_log: true };
  const points = [
    [1, 0.01],
    [2, 0.1],
    [3, 1],
  ] as const;
  const png = await chartPicture({
    title: "t",
    x: { title: "x", range: [1, 3] },
    y,
    series: [{ color: blue, points }],
  });
  const { width, height, data } = decodePng(png);
  const first = (x: number) => {
    for (let row = 0; row < height; row += 1) {
      const at = 4 * (row * width + x);
      if (data[at] === 0 && data[at + 2] === 255) return row;
    }
    return Number.NaN;
  };
  const left = Array.from({ length: width }, (_, x) => x).find((x) => !Number.isNaN(first(x))) ?? 0;
  const at = (share: number) => first(left + 3 + Math.round(share * 1000));
  // One decade is a quarter of 460 pixels.
  expect(Math.abs(at(0.25) - at(0.5) - 57.5)).toBeLessThanOrEqual(3);
  expect(Math.abs(at(0.5) - at(0.75) - 57.5)).toBeLessThanOrEqual(3);
});
