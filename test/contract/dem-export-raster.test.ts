import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ExportRasterRequest, ExportRasterResponse } from "../../shared/contract/dem.ts";
import { asciiGrid } from "../support/raster/ascii-grid.ts";
import { answered, refusal } from "../support/session/session-edits.ts";
import { sessionTest } from "../support/session/session-test.ts";

const made = sessionTest();

describe("export-raster", () => {
  const RASTER = "/api/dem/export-raster";
  const grid = { grid_z: [1, 2, 3, 4.25, -9999, 6], nx: 3, ny: 2, cell_size: 0.5, origin: [500000.125, 4000000] };
  const bytes = async (body: object) => {
    const answer = await answered(made, ExportRasterResponse, RASTER, { ...grid, ...body });
    return { answer, data: Buffer.from(answer.data_base64 ?? "", "base64") };
  };
  test("ESRI ASCII grid: header, rows from north to south", async () => {
    const { answer, data } = await bytes({});
    expect(answer.format).toBe("asc");
    expect(data.toString()).toBe(
      [
        "ncols 3",
        "nrows 2",
        "xllcorner 500000.125000",
        "yllcorner 4000000.000000",
        "cellsize 0.500000",
        "NODATA_value -9999",
        "4.2500 -9999 6.0000",
        "1.0000 2.0000 3.0000",
        "",
      ].join("\n"),
    );
  });
  test("degrees keep their digits: six decimals correspond to a tenth of a metre", async () => {
    const text = async (body: object) => (await bytes(body)).data.toString().split("\n");
    expect((await text({ cell_size: 8.983e-6, origin: [7.123456789, 51.25] })).slice(2, 5)).toEqual([
      "xllcorner 7.123456789",
      "yllcorner 51.250000",
      "cellsize 0.000008983",
    ]);
    expect((await text({ cell_size: 1 / 3 }))[4]).toBe("cellsize 0.333333"); // 1 um over three cells
    const row = { grid_z: new Array(2000).fill(1), nx: 2000, ny: 1, cell_size: 1 / 3 };
    expect((await text(row))[4]).toBe("cellsize 0.3333333333333333");
  });
  test("a height does not become the nodata value by rounding", async () => {
    const { data } = await bytes({ nodata: 0, grid_z: [0.00001, 1, -0.00004, 0, 3, 4] });
    expect(data.toString().split("\n").slice(6, 8)).toEqual(["0 3.0000 4.0000", "0.00001 1.0000 -0.00004"]);
  });
  test.each(["tif", "TIFF", "geotiff"])("%s: tags and rows", async (format) => {
    const { answer, data } = await bytes({ format, crs_epsg: 32632, nodata: -9999 });
    expect(answer.format).toBe("tif");
    const tags = tiffTags(data);
    expect(tags.get(256)).toEqual([3]);
    expect(tags.get(257)).toEqual([2]);
    expect(tags.get(258)).toEqual([32]);
    expect(tags.get(339)).toEqual([3]);
    expect(tags.get(33550)).toEqual([0.5, 0.5, 0]);
    expect(tags.get(33922)).toEqual([0, 0, 0, 500000.125, 4000001, 0]);
    expect(tags.get(34735)).toEqual([1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32632]);
    expect(Buffer.from(tags.get(42113) ?? []).toString()).toBe("-9999\0");
    const at = tags.get(273)?.[0] ?? 0;
    expect(at % 4).toBe(0);
    expect(data.length).toBe(at + (tags.get(279)?.[0] ?? 0));
    expect(Array.from({ length: 6 }, (_, i) => data.readFloatLE(at + 4 * i))).toEqual([4.25, -9999, 6, 1, 2, 3]);
  });
  test("a geographic system has its own key, no system has no key", async () => {
    const keys = async (body: object) => tiffTags((await bytes({ format: "tif", ...body })).data).get(34735);
    expect(await keys({ crs_epsg: 4326 })).toEqual([1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]);
    expect((await keys({ crs_epsg: 4547 }))?.[7]).toBe(1);
    expect((await keys({ crs_epsg: 4547, crs_is_geographic: true }))?.[7]).toBe(2);
    expect(await keys({})).toBeUndefined();
  });
  test("dest_path: the file is complete or absent", async () => {
    const folder = join(made.folder, "rasters");
    mkdirSync(folder);
    const { answer } = await bytes({ dest_path: join(folder, "dem.asc") });
    expect(answer.data_base64).toBeNull();
    expect(readdirSync(folder)).toEqual(["dem.asc"]);
    expect(readFileSync(join(folder, "dem.asc"))).toEqual(
      Buffer.from(asciiGrid({ ...ExportRasterRequest.parse(grid), ...grid, origin: [500000.125, 4000000] })),
    );
    expect((await refusal(made, RASTER, { ...grid, dest_path: folder }))[0]).toBe(400);
    expect((await refusal(made, RASTER, { ...grid, dest_path: "dem.asc" }))[0]).toBe(400);
    expect(existsSync("dem.asc")).toBe(false);
  });
  test.each([
    [{ format: "png" }, 400, 'Unknown raster format "png": use asc or tif.'],
    [{ nx: 4 }, 400, "grid_z length must equal nx*ny. It has 6 values for 4 x 2 cells."],
    [{ nx: 0, ny: 0, grid_z: [] }, 400, "grid_z length must equal nx*ny. It has 0 values for 0 x 0 cells."],
    [{ nx: -3, ny: -2 }, 400, "grid_z length must equal nx*ny. It has 6 values for -3 x -2 cells."],
    [
      { format: "tif", nodata: -1e40 },
      400,
      "nodata -1e+40 is outside the float32 range of a GeoTIFF (3.4028234663852886e+38); use asc or another value.",
    ],
    [
      { format: "tif", grid_z: [1, 2, 3, 4, 5, 1e39] },
      400,
      "grid_z value 1e+39 is outside the float32 range of a GeoTIFF (3.4028234663852886e+38); use asc or another value.",
    ],
  ])("%j is rejected", async (body, status, sentence) => {
    expect(await refusal(made, RASTER, { ...grid, ...body })).toEqual([status, sentence]);
  });
  test("schema violations are rejected", async () => {
    for (const body of [{ origin: [1] }, { cell_size: 0 }, { grid_z: [null] }, { nx: 1.5 }])
      expect((await refusal(made, RASTER, { ...grid, ...body }))[0]).toBe(422);
  });
});

/** The directory of a little-endian TIFF: values by tag. */
function tiffTags(data: Buffer): Map<number, number[]> {
  expect(data.subarray(0, 4).toString("latin1")).toBe("II*\0");
  const at = data.readUInt32LE(4);
  const size: Record<number, number> = { 2: 1, 3: 2, 4: 4, 12: 8 };
  const tags = new Map<number, number[]>();
  for (let i = 0; i < data.readUInt16LE(at); i += 1) {
    const entry = at + 2 + 12 * i;
    const type = data.readUInt16LE(entry + 2);
    const count = data.readUInt32LE(entry + 4);
    const bytes = (size[type] ?? 0) * count;
    const values = bytes <= 4 ? entry + 8 : data.readUInt32LE(entry + 8);
    const read = (k: number) => {
      if (type === 2) return data.readUInt8(values + k);
      if (type === 3) return data.readUInt16LE(values + 2 * k);
      return type === 4 ? data.readUInt32LE(values + 4 * k) : data.readDoubleLE(values + 8 * k);
    };
    tags.set(
      data.readUInt16LE(entry),
      Array.from({ length: count }, (_, k) => read(k)),
    );
  }
  expect([...tags.keys()]).toEqual([...tags.keys()].sort((a, b) => a - b));
  return tags;
}
