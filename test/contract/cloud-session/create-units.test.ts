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
  ]);
});

test("one unit: told if it is not converted, without a word if it is", async () => {
  const feet = [
    [1024, 1],
    [3072, 2229],
    [4099, US_FOOT],
  ] as const;
  expect(await warned(feet)).toEqual([expect.stringMatching(/US survey foot .*read as metres.*source_units/)]);
  expect(await warned(feet, { source_units: "ftUS" })).toEqual([]);
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
