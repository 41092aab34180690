import { expect, test } from "vitest";
import { systemWarnings } from "../../../../backend/cli/register/systems.ts";

type Part = Parameters<typeof systemWarnings>[0];
const cloud = (name: string, crs_epsg: number | null) =>
  ({ kind: "cloud", file: { name }, tail: { crs_epsg } }) as Part;
const mesh = (name: string) => ({ kind: "mesh", file: { name } }) as Part;

test.each([
  [
    cloud("a.las", 32617),
    cloud("b.xyz", null),
    "las",
    /^The moved file states no coord.*b\.xyz.*a\.las states EPSG:32617/,
  ],
  [cloud("a.las", 32617), cloud("b.las", 25832), "laz", /^The moved file states EPSG:25832.*states EPSG:32617/],
  [cloud("a.xyz", null), cloud("b.las", 25832), "xyz", /^Coordinates.*b\.las \(EPSG:25832\).*a\.xyz \(no coord/],
  [cloud("a.las", 32617), mesh("b.obj"), "las", /^The moved file states no coordinate system, as b\.obj does/],
])("another system of the fixed file is told", (moving, fixed, format, said) => {
  expect(systemWarnings(moving, fixed, format)).toEqual([expect.stringMatching(said)]);
});

test.each([
  [cloud("a.las", 25832), cloud("b.las", 25832)],
  [cloud("a.xyz", null), mesh("b.obj")],
  [mesh("a.obj"), cloud("b.las", 25832)],
])("the same system, or a mesh that is moved, is not", (moving, fixed) => {
  expect(systemWarnings(moving, fixed, "las")).toEqual([]);
});
