import { expect, test } from "vitest";
import { implausibleWarnings, importedDoubts, twigWarnings } from "../../../../backend/services/qsm/implausible.ts";

const tree = (tree_height_m: number, trunk_diameter_mm: number, canopy_width_m: number) => ({
  tree_height_m,
  trunk_diameter_mm,
  canopy_width_m,
  total_woody_volume_ci95_m3: [1, 2] as [number, number] | null,
});

test.each([
  ["a pine, 22.3 m and 193 mm", 30_826, tree(22.3, 193, 6.1)],
  ["the same as measured, 22.8 m and 151 mm", 30_826, tree(22.8, 151, 6.1)],
  ["a slender spruce, 25 m and 120 mm", 20_000, tree(25, 120, 4)],
  ["a tropical tree thinned to 50,000 points", 50_000, tree(23.3, 348, 12.6)],
  ["a redwood, 90 m and 2 m", 500_000, tree(90, 2_000, 20)],
  ["a tomato, 2 m and 8 mm", 5_000, tree(2, 8, 0.6)],
])("%s is plausible", (_what, points, metrics) => {
  expect(implausibleWarnings(points, metrics)).toEqual([]);
});

test.each([
  [
    "a chain through an airborne crown",
    410,
    tree(13.2, 14.8, 1),
    /^a trunk 15 mm thick cannot stand 13\.2 m high; too few/,
  ],
  ["three airborne branches", 56, tree(0.2, 12, 2.9), /^only 8 points per m2 of the crown; too few/],
])("%s is told", (_what, points, metrics, said) => {
  expect(implausibleWarnings(points, metrics)).toEqual([expect.stringMatching(said)]);
});

test("few points of wood alone are told only where its radii could not be measured", () => {
  const known = tree(14, 300, 8);
  expect(implausibleWarnings(1_500, known, { wood_measured: true })).toEqual([]);
  expect(implausibleWarnings(1_500, known)).toHaveLength(1);
});

test.each([
  ["millimetres", tree(20_943, 173_566, 3842), /^The model is 20900 m high, and no tree reaches 120 m\./],
  ["radii in centimetres", tree(20.9, 17_356, 3.8), /^The trunk is 17\.4 m thick and the model 20\.9 m high\./],
  ["radii of a seedling in millimetres", tree(0.4, 5_000, 0.2), /^The trunk is 5 m thick and the model 0\.4 m high/],
  ["radii in metres, places in feet", tree(68.7, 174, 12.6), /^A trunk 0\.174 m thick cannot stand 68\.7 m high\./],
])("an imported model with %s is told", (_what, metrics, said) =>
  expect(importedDoubts(metrics)).toEqual([expect.stringMatching(said)]),
);

test.each([tree(22.8, 151, 6), tree(20, 9_000, 15), tree(0.5, 400, 0.5), tree(2, 8, 0.6)])(
  "an imported tree of any kind is not: %j",
  (metrics) => expect(importedDoubts(metrics)).toEqual([]),
);

test.each([0.3, 2.5, 4.23, 12])("twigs of %f mm are told nothing about", (radius) =>
  expect(twigWarnings(radius)).toEqual([]),
);
test.each([0.00423, 42])("twigs of %f mm are told", (radius) =>
  expect(twigWarnings(radius)).toEqual([expect.stringMatching(/^twig_radius_mm .* The unit is millimetres\.$/)]),
);
