import { expect, test } from "vitest";
import { scanHeightWarnings } from "../../../backend/services/terrain/scan-heights.ts";

const lines = { scans: { values: {} as never, slug: "las_point_source_id", is_flight_lines: true } } as const;
const height = (scan_b: number, z_m: number, more: object = {}) => ({
  scan_a: 1,
  scan_b,
  n_cells: 900,
  z_m,
  spread_m: 0.03,
  ...more,
});

test("flight lines whose ground lies apart are told, the farthest first", () => {
  const told = scanHeightWarnings([height(2, 0.02), height(3, -0.11), height(4, 0.005)], lines);
  expect(told).toEqual([
    expect.stringMatching(
      /^The ground has different heights in different flight lines \(las_point_source_id\): that of 3 lies 11\.0 cm below 1 \(900 places\), 2 lies 2\.0 cm above 1/,
    ),
  ]);
});

test("what the slope or few places explain is not", () => {
  expect(scanHeightWarnings([height(2, 0.009), height(3, 0.04, { spread_m: 0.1, n_cells: 40 })], lines)).toEqual([]);
  expect(scanHeightWarnings([height(2, 0.5)], { scans: null })).toEqual([]);
});
