import { describe, expect, test } from "vitest";
import { unitOfAxis, widerAxes } from "../../../../../backend/services/files/text/axis-names.ts";
import { headerSystem } from "../../../../../backend/services/files/text/header-units.ts";
import { detectTextLayout } from "../../../../../backend/services/files/text/layout.ts";

const axes = (names: string) =>
  Object.fromEntries([...(widerAxes(names.split(",")) ?? [])].map(([i, axis]) => [axis, i]));

describe("names of coordinates in the wider sense", () => {
  test.each([
    ["N,E,H", { x: 1, y: 0, z: 2 }],
    ["id,Rechtswert,Hochwert,Höhe", { x: 1, y: 2, z: 3 }],
    ["POINT_X,POINT_Y,POINT_Z,Intensity", { x: 0, y: 1, z: 2 }],
    ["lat,lon,alt", { x: 1, y: 0, z: 2 }],
    ["Longitude (deg),Latitude (deg),Elev [m]", { x: 0, y: 1, z: 2 }],
    ["x_mm,y_mm,z_mm", { x: 0, y: 1, z: 2 }],
    ["x_m,y_m,height_m", { x: 0, y: 1, z: 2 }],
    ["X coord,Y coord,Height", { x: 0, y: 1, z: 2 }],
  ])("%s", (names, indices) => expect(axes(names)).toEqual(indices));

  test.each(["a,b,c", "N,E,H,Z", "N,E", "East,Northing,Easting,Z", "R,G,B", "e,n,e,h", "tree,X,Y,height_m"])(
    "%s: not one of each",
    (names) => expect(widerAxes(names.split(","))).toBeNull(),
  );
});

test.each([
  ["X [mm]", "mm"],
  ["x(ft)", "ft"],
  ["y_m", "m"],
  ["Easting (US-ft)", "ftUS"],
  ["Z in", "in"],
  ["Z (inches)", "in"],
  ["lon", "deg"],
  ["Latitude (deg)", "deg"],
  ["x (°)", "deg"],
  ["xm", null],
  ["z", null],
  ["Height (m a.s.l.)", null],
  ["x_coord", null],
])("%s: %s", (name, unit) => expect(unitOfAxis(name)).toBe(unit));

const layout = (text: string) => detectTextLayout(text.split("\n"));
const system = (header: string) => headerSystem(layout(`${header}\n1.5,2.5,3.5\n4.5,5.5,6.5`));

describe("lists of trees", () => {
  const rows = "1,1.5,2.5,18.5,31\n2,4.5,5.5,21.5,35";
  const told = (header: string) => layout(`${header}\n${rows}`).warning;
  test.each(["id,x,y,height,DBH (cm)", "Tree ID,X,Y,Height,n"])("%s: told", (header) =>
    expect(told(header)).toMatch(
      /^z is column "[hH]eight", but the header names (DBH \(cm\)|Tree ID), too: if it lists/,
    ),
  );
  test("a height with a unit beside x and y without one is no z", () =>
    expect(() => told("no,x,y,height_m,dbh")).toThrow(/no z column/));
  test.each(["id,x,y,height,intensity", "dbh,x,y,z,height", "tree,x,y,elevation,dbh"])("%s: points", (header) =>
    expect(told(header) ?? "").not.toMatch(/lists trees/),
  );
});

describe("units of a header", () => {
  test("one for all", () =>
    expect(system("X[mm],Y[mm],Z[mm]")).toMatchObject({ unit_m: 0.001, vertical_unit_m: 0.001, is_geographic: false }));
  test("another one for heights", () =>
    expect(system("X(m),Y(m),Z(ft)")).toMatchObject({ unit_m: 1, vertical_unit_m: 0.3048, warnings: [] }));
  test("angles", () => expect(system("lat,lon,alt")).toMatchObject({ is_geographic: true, unit_m: null }));
  test("two for x and y", () =>
    expect(system("X(m),Y(cm),Z(m)")?.warnings).toEqual([
      "The header states x in metres and y in centimetres; both were read in one unit.",
    ]));
  test("none", () => expect(system("x,y,z")).toBeNull());
});

test("of rows with thousands of columns fewer are looked at", () => {
  const row = (count: number) => Array.from({ length: count }, (_, i) => `${i}.25`).join(" ");
  const seen = (columns: number) => layout(Array(100).fill(row(columns)).join("\n")).sample_rows.length;
  expect([seen(8), seen(300), seen(4096)]).toEqual([100, 100, 10]);
});

describe("columns by place", () => {
  const rows = (first: (row: number) => string) =>
    Array.from({ length: 12 }, (_, row) => `${first(row)},${10 + row / 3},${20 - row / 7},${row % 5}.5`).join("\n");

  test("a first column that counts the rows is told", () => {
    const counted = layout(rows((row) => `${row + 1}.0`));
    expect(counted.columns[0]?.role).toBe("x");
    expect(counted.warning).toMatch(/^the first column counts up by 1 \(1, 2, 3, \.\.\.\) and was taken as x/);
  });

  test.each([
    ["other steps", rows((row) => `${2 * row}.0`)],
    ["whole numbers, which are row numbers", rows(String)],
    [
      "few rows",
      rows((row) => `${row}.0`)
        .split("\n")
        .slice(0, 9)
        .join("\n"),
    ],
  ])("%s: nothing", (_, text) => expect(layout(text).warning).toBeNull());

  test("names in the wider sense decide before the place", () => {
    const found = layout("N,E,H\n1.5,2.5,3.5\n4.5,5.5,6.5");
    expect(found.columns.map(({ role }) => role)).toEqual(["y", "x", "z"]);
    expect(found.warning).toBe("the header names no x, y, z; by its names x = E, y = N, z = H");
  });
});
