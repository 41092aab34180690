import { expect, test } from "vitest";
import { dropWarnings } from "../../../../backend/services/trees/height-drops.ts";

test("heights of trees with few points are told, with the mean drop", () => {
  expect(dropWarnings([0.3, 0.1, 0.5])).toEqual([
    expect.stringMatching(/^Heights depend on the density .* 0\.30 m lower in the mean \(height_drop_m\)/),
  ]);
});

test("dense trees, or none, are not", () => {
  expect(dropWarnings([0.01, 0.02, 0.2])).toEqual([]);
  expect(dropWarnings([])).toEqual([]);
});
