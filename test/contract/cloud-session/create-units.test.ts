import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { create } from "../../support/app/app.ts";
import { folderOfTest } from "../../support/run/folders.ts";
import { lasBytes } from "../../support/scans/las-bytes.ts";
import { sessionTest } from "../../support/session/session-test.ts";

const made = sessionTest();
const FOOT = "0.3048006096012192";
/** Keys of GeoTIFF: 3072 projected system, 2048 geographic one, 3076 its unit, 4096 vertical system, 4099 its unit. */
const [METRE, US_FOOT] = [9001, 9003];

const NO_SYSTEM = expect.stringMatching(/coordinate system of the file .*does not count in metres/);

async function warned(keys: readonly (readonly [number, number])[], request: object = {}) {
  const path = join(folderOfTest("units-"), "scan.las");
  const geotiff = [1, 1, 0, keys.length, ...keys.flatMap(([key, value]) => [key, 0, 1, value])];
  writeFileSync(path, lasBytes([{ x: 10, y: 20, z: 30 }], { geotiff }));
  return (await create(made, path, request)).warnings ?? [];
}

test.each([
  ["its unit", [3072, 26910], [4099, US_FOOT], `units of 1 m and heights in units of ${FOOT} m`, "units of 1 m"],
  ["its code", [3072, 26910], [4096, 6360], `units of 1 m and heights in units of ${FOOT} m`, "units of 1 m"],
  ["feet across", [3072, 2229], [4099, METRE], `units of ${FOOT} m and heights in units of 1 m`, "units of 1 m"],
] as const)("heights in another unit than x and y are told: %s", async (_, system, vertical, stated, read) => {
  const keys = [[1024, 1], system, vertical] as const;
  expect(await warned(keys)).toEqual([expect.stringMatching(new RegExp(`${stated}.*all three were read in ${read}`))]);
  const converted = await warned(keys, { source_units: "ftUS" });
  expect(converted).toEqual([
    expect.stringMatching(new RegExp(`${stated}.*all three were read in units of ${FOOT} m`)),
    NO_SYSTEM,
  ]);
});

test("one unit: told if it is not converted, or in another one; if it is, the system is gone", async () => {
  const feet = [
    [1024, 1],
    [3072, 2229],
    [4099, US_FOOT],
  ] as const;
  expect(await warned(feet)).toEqual([expect.stringMatching(/US survey foot .*read as metres.*source_units/)]);
  expect(await warned(feet, { source_units: "ftUS" })).toEqual([
    "The coordinate system of the file (EPSG:2229) does not count in metres, so the cloud, and files and rasters written from it, have none.",
  ]);
  expect(await warned(feet, { source_units: "ft" })).toEqual([NO_SYSTEM]); // differ by 2 millionths
  const stated =
    /states that its coordinates are in US survey foot .*read in units of (1|0\.01) m, as source_units says/;
  expect(await warned(feet, { source_units: "m" })).toEqual([expect.stringMatching(stated)]);
  expect(await warned(feet, { source_units: "cm" })).toEqual([expect.stringMatching(stated), NO_SYSTEM]);
  expect(
    await warned([
      [1024, 1],
      [3072, 26910],
      [4099, METRE],
    ]),
  ).toEqual([]);
});

test("heights in feet above longitude and latitude are told too", async () => {
  const said = await warned([
    [1024, 2],
    [2048, 4326],
    [4099, US_FOOT],
  ]);
  expect(said).toEqual([expect.stringMatching(/degrees/), expect.stringMatching(/heights are in units of 0\.3048/)]);
});

test("a shift in the units of the file, which is subtracted from metres", async () => {
  const path = join(folderOfTest("units-"), "far.txt");
  writeFileSync(path, "x y z\n636001 848935 400\n636101 849035 410\n");
  const shifted = async (world_shift: number[], source_units: string | null) =>
    (await create(made, path, { world_shift, source_units })).warnings ?? [];
  expect(await shifted([636001, 848935, 0], "ft")).toEqual([
    "world_shift leaves coordinates of up to 590180 m: it is subtracted after the conversion to metres, but fits the units of the file, as the suggested_shift of a preview. Multiply it by 0.3048.",
  ]);
  for (const [shift, unit] of [
    [[193853, 258755, 0], "ft"],
    [[636001, 848935, 0], null],
    [[1, 2, 3], "ft"],
  ] as const)
    expect(await shifted([...shift], unit)).toEqual([]);
});

test("units that the header of a text file states", async () => {
  const path = (header: string) => {
    const file = join(folderOfTest("units-"), "scan.csv");
    writeFileSync(file, `${header}\n1000.5,2000.25,100\n1001.5,2001.25,101\n`);
    return file;
  };
  const of = async (header: string, request: object = {}) => (await create(made, path(header), request)).warnings ?? [];
  expect(await of("X(ft),Y(ft),Z(ft)")).toEqual([
    expect.stringMatching(/in feet \(0\.3048 m\); they were read as metres/),
  ]);
  expect(await of("X(ft),Y(ft),Z(ft)", { source_units: "ft" })).toEqual([]);
  expect(await of("X(ft),Y(ft),Z(ft)", { source_units: "m" })).toEqual([expect.stringMatching(/as source_units says/)]);
  expect(await of("X(m),Y(m),Z(ft)")).toEqual([expect.stringMatching(/heights in units of 0\.3048 m/)]);
  expect(await of("X(m),Y(m),Z(m)")).toEqual([]);
  const payload = { file_path: path("X(ft),Y(ft),Z(ft)") };
  const seen = (await made.app.inject({ method: "POST", url: "/api/pointcloud/preview", payload })).json();
  expect(seen).toMatchObject({ detected_units: "ft", units_certain: true });
});

test("units that comments state", async () => {
  const of = async (name: string, text: string) => {
    const file = join(folderOfTest("units-"), name);
    writeFileSync(file, text);
    const payload = { file_path: file };
    const seen = (await made.app.inject({ method: "POST", url: "/api/pointcloud/preview", payload })).json();
    return [(await create(made, file, {})).warnings ?? [], seen.detected_units];
  };
  const read = [expect.stringMatching(/in millimetres \(0\.001 m\); they were read as metres/)];
  const ply = (comment: string) =>
    `ply\nformat ascii 1.0\n${comment}\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\nend_header\n0 0 0\n1 2 3\n`;
  expect(await of("a.ply", ply("comment Units: mm"))).toEqual([read, "mm"]);
  expect(await of("a.ply", ply("comment made by hand"))).toEqual([[], null]);
  const pcd = `# .PCD v0.7\n# units: mm\nVERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ascii\n0 0 0\n1 2 3\n`;
  expect(await of("a.pcd", pcd)).toEqual([read, "mm"]);
  expect(await of("a.xyz", "# unit = mm\n1.5 2.5 3.5\n4.5 5.5 6.5\n")).toEqual([read, "mm"]);
  expect(await of("b.xyz", "// x y z\n1.5 2.5 3.5\n4.5 5.5 6.5\n")).toEqual([[], null]);
});
