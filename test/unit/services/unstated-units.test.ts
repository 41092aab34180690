import { expect, test } from "vitest";
import { implausibleWarnings } from "../../../backend/services/qsm/implausible.ts";
import { tallPlantWarnings, unitDoubt, unitIsStated } from "../../../backend/services/run/unstated-units.ts";

const NOTHING = {
  source_units: null,
  source_unit_scale: null,
  crs_epsg: null,
  crs_wkt: null,
  crs_geotiff: null,
  source_path: "/scans/plot.xyz",
};

test.each([
  [{}, false],
  [{ source_units: "m" }, true],
  [{ source_unit_scale: 1 }, true],
  [{ crs_epsg: 32617 }, true],
  [{ crs_wkt: "PROJCS[]" }, true],
  [{ crs_wkt: "" }, false],
  [{ source_path: "/scans/plot.E57" }, true],
  [{ source_path: null }, false],
])("%o states the unit: %s", (facts, is_stated) => {
  expect(unitIsStated({ ...NOTHING, ...facts })).toBe(is_stated);
});

test("plants above 60 m are told where nothing states the unit", () => {
  expect(tallPlantWarnings([20, 59.9], false)).toEqual([]);
  expect(tallPlantWarnings([20, 71.25], true)).toEqual([]);
  expect(tallPlantWarnings([20, 71.25], false)).toEqual([
    expect.stringMatching(
      /^1 of 2 trees is higher than 60 m, as in few forests \(the highest: 71\.3 m\), and the file/,
    ),
  ]);
  expect(tallPlantWarnings([74], false)).toEqual([expect.stringMatching(/^The plant is higher than 60 m/)]);
  expect(unitDoubt(true)).toBe("");
});

test("a model that is higher than any tree, and one that may be in another unit", () => {
  const model = { tree_height_m: 22_371, trunk_diameter_mm: 3125, canopy_width_m: 3000 };
  expect(implausibleWarnings(30_000, model)).toEqual([expect.stringMatching(/^a plant 22371 m high is none: .*120 m/)]);
  const herb = { tree_height_m: 30, trunk_diameter_mm: 400, canopy_width_m: 46 };
  expect(implausibleWarnings(24_795, herb, { unit_is_stated: false })).toEqual([
    expect.stringMatching(/^only 15 points per m2 .* Or the coordinates are not metres: .*source_units/),
  ]);
  expect(implausibleWarnings(24_795, herb)).toEqual([expect.not.stringContaining("metres")]);
});
