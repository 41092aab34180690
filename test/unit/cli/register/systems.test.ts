import { expect, test } from "vitest";
import { systemWarnings } from "../../../../backend/cli/register/systems.ts";

type Part = Parameters<typeof systemWarnings>[0];
const cloud = (name: string, crs_epsg: number | null) =>
  ({ kind: "cloud", file: { name }, tail: { crs_epsg } }) as Part;
const mesh = (name: string) => ({ kind: "mesh", file: { name } }) as Part;

test.each([
  [cloud("a.las", 32617), cloud("b.xyz", null), /^The moved file still states EPSG:32617, .*b\.xyz \(without a coord/],
  [cloud("a.las", 32617), cloud("b.las", 25832), /^The moved file still states EPSG:32617.*b\.las \(EPSG:25832\)/],
  [cloud("a.xyz", null), cloud("b.las", 25832), /^The moved file states no coordinate system.*\(EPSG:25832\)/],
  [cloud("a.las", 32617), mesh("b.obj"), /^The moved file still states EPSG:32617.*b\.obj/],
])("another system of the fixed file is told", (moving, fixed, said) => {
  expect(systemWarnings(moving, fixed)).toEqual([expect.stringMatching(said)]);
});

test.each([
  [cloud("a.las", 25832), cloud("b.las", 25832)],
  [cloud("a.xyz", null), mesh("b.obj")],
  [mesh("a.obj"), cloud("b.las", 25832)],
])("the same system, or a mesh that is moved, is not", (moving, fixed) => {
  expect(systemWarnings(moving, fixed)).toEqual([]);
});
