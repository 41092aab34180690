import { expect, test } from "vitest";
import { surveyFrame } from "../../../backend/cli/batch/measure.ts";
import { widestReach } from "../../../backend/cli/batch/voids.ts";
import { measuredWindows } from "../../../backend/cli/batch/windows.ts";
import type { Catalog } from "../../../backend/cli/catalog/document.ts";
import type { GroundFrame } from "../../../shared/contract/ground-frame.ts";
import { uniform } from "../../accuracy/random.ts";

const range = (column: number, row: number, nx: number, ny: number) => ({ column, row, nx, ny });

/** A core of 20 x 20 cells at (100, 100) and its view, without ground where `empty` holds, in a survey. */
function reach(buffer: number, empty: (x: number, y: number) => boolean, survey = range(0, 0, 300, 300)) {
  const view = range(100 - buffer, 100 - buffer, 20 + 2 * buffer, 20 + 2 * buffer);
  const has = new Uint8Array(view.nx * view.ny);
  for (let j = 0; j < view.ny; j += 1)
    for (let i = 0; i < view.nx; i += 1) has[j * view.nx + i] = empty(view.column + i, view.row + j) ? 0 : 1;
  return widestReach({ has, nx: view.nx, ny: view.ny }, { view, core: range(100, 100, 20, 20), survey });
}
const round = (x: number, y: number, radius: number) => (i: number, j: number) =>
  Math.hypot(i + 0.5 - x, j + 0.5 - y) < radius;

test("a void that reaches beyond the buffer is found, one within the view is not", () => {
  expect(reach(10, () => false)).toBe(0);
  expect(reach(10, round(115, 110, 4))).toBe(0);
  expect(reach(30, round(125, 110, 8))).toBe(0); // from the core to 13 cells beyond it
  expect(reach(10, round(125, 110, 8))).toBeGreaterThan(7);
  expect(reach(10, round(130, 110, 8))).toBe(0); // behind the core
  expect(reach(10, () => true)).toBeGreaterThan(20);
});

test("beyond the edge of the survey there is nothing to see", () => {
  const atEdge = (i: number) => i >= 112;
  expect(reach(10, atEdge, range(0, 0, 121, 300))).toBeGreaterThan(0); // along the edge, northwards
  const corner = (i: number, j: number) => i >= 117 && j >= 117;
  expect(reach(10, corner, range(0, 0, 121, 121))).toBe(0);
  expect(reach(10, corner)).toBeGreaterThan(0);
});

test("random voids: the radius is the largest of all circles, tried one by one", () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const random = uniform(seed);
    const known = new Set(
      Array.from({ length: 40 }, () => `${80 + Math.floor(60 * random())} ${80 + Math.floor(60 * random())}`),
    );
    const found = reach(20, (x, y) => !known.has(`${x} ${y}`));
    let widest = 0;
    for (let y = 80; y < 140; y += 1)
      for (let x = 80; x < 140; x += 1) {
        const away = [...known].map((cell) => cell.split(" ").map(Number) as [number, number]);
        const radius = away.reduce((least, [i, j]) => Math.min(least, Math.hypot(i - x, j - y)), Infinity);
        const side = Math.min(x + 0.5 - 80, 140 - x - 0.5, y + 0.5 - 80, 140 - y - 0.5);
        const out = (v: number) => Math.max(100 - v - 0.5, v + 0.5 - 120, 0);
        if (radius + Math.SQRT1_2 > Math.max(side, Math.hypot(out(x), out(y)))) widest = Math.max(widest, radius);
      }
    expect(found).toBeCloseTo(widest, 9);
  }
});

const catalog = (side: number, points: number, holes: boolean): Catalog => {
  const files = [0, 1, 2, 3].flatMap((i) =>
    [0, 1, 2, 3].flatMap((j) =>
      holes && i === 2 && j === 2
        ? []
        : [{ bounds: { min: [i * side, j * side, 0], max: [(i + 1) * side, (j + 1) * side, 9] } }],
    ),
  );
  return {
    files,
    points,
    density: 100,
    layout: { bounds: { min: [0, 0, 0], max: [4 * side, 4 * side, 9] } },
  } as unknown as Catalog;
};

test("small surveys are measured as a whole, large ones in windows that lie in files", () => {
  const small = measuredWindows(catalog(50, 1_000_000, false));
  expect(small.map(({ box, files }) => [box, files.length])).toEqual([[[-1, -1, 201, 201], 16]]);
  const large = measuredWindows(catalog(250, 100_000_000, true));
  expect(large).toHaveLength(9);
  for (const { box, files } of large) {
    expect((box[2] - box[0]) * (box[3] - box[1])).toBeCloseTo(5e5 / 100, 6);
    expect(files.length).toBeGreaterThan(0);
  }
});

test("measures of windows are joined by their medians; those of the whole survey stay as they are", () => {
  const frame = (value: number): GroundFrame => ({
    origin: [value, value],
    z_origin: value,
    slope: [value / 100, -value / 100],
    lowest_z: value,
    point_count: value,
    point_spacing_m: value,
    outlier_cell_m: value,
    outlier_layer_m: value,
    cell_size: value,
    roughness_m: value,
    typical_returns: value,
    search_noise_m: value,
    noise_m: value,
    middle_m: value,
  });
  const file = { id: "0", path: "", compressed: false, points: 70, mem_mb: 1, minutes: 1 };
  const window = { box: [0, 0, 1, 1] as const, files: [0] };
  expect(surveyFrame([frame(3)], { files: [file], windows: [window] })).toEqual(frame(3));
  expect(
    surveyFrame([frame(9), frame(1), frame(4)], { files: [file, file], windows: [window, window, window] }),
  ).toEqual({
    ...frame(4),
    origin: [0, 0],
    z_origin: 1,
    lowest_z: 1,
    point_count: 140,
  });
});
