import { expect, test } from "vitest";
import { missingDiameterWarnings } from "../../../../backend/services/trees/missing-diameters.ts";

const tree = (height_m: number, dbh_m = Number.NaN) => ({ height_m, dbh_m });
const stand = Array.from({ length: 10 }, () => tree(20, 0.3));

test("tall trees without a diameter are told, with their part of the basal area", () => {
  expect(missingDiameterWarnings([...stand, tree(20), tree(10), tree(9.9)])).toEqual([
    expect.stringMatching(/^2 of 12 trees .* have none.*basal area is too small by about 11 %/),
  ]);
});

test("one of them too", () => {
  expect(missingDiameterWarnings([...stand, tree(20)])).toEqual([expect.stringMatching(/^1 of 11 trees .* has none/)]);
});

test("shrubs, few of many, clouds without any diameter and empty lists are not", () => {
  expect(missingDiameterWarnings([...stand, tree(2), tree(3), tree(9)])).toEqual([]);
  expect(missingDiameterWarnings([...stand, ...stand, tree(19)])).toEqual([]);
  expect(missingDiameterWarnings([tree(20), tree(10)])).toEqual([]);
  expect(missingDiameterWarnings([])).toEqual([]);
});
