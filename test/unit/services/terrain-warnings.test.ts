import { expect, test } from "vitest";
import { lowTerrainWarnings } from "../../../backend/services/terrain/warnings.ts";

test("a terrain below the middle of the ground's returns is told, unless it was asked for the middle", () => {
  expect(lowTerrainWarnings(0.062, 5)).toEqual([
    expect.stringMatching(
      /^Half of the ground's returns lie more than 6\.2 cm above .*percentile 5 .*50 takes the middle/,
    ),
  ]);
  expect(lowTerrainWarnings(0.062, 50)).toEqual([]);
  expect(lowTerrainWarnings(0.02, 5)).toEqual([]);
  expect(lowTerrainWarnings(Number.NaN, 5)).toEqual([]);
});
