import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { stopwatch } from "../support/run/stopwatch.ts";
import { type TileHeader, writeEmptyTile } from "../support/scans/las-tiles.ts";

const EAST = 476_000;
const NORTH = 5_429_000;
const SIDE = 250;
let root = "";
let out = "";
let flight = "";
beforeEach(() => {
  root = folderOfTest("catalog-");
  out = join(root, "out");
  flight = join(root, "flight");
  mkdirSync(flight);
});

/** A tile of a flight; its points end 3 cm within its edges. */
function tile(column: number, row: number, more: Partial<TileHeader> = {}): void {
  const [x, y] = [EAST + SIDE * column, NORTH + SIDE * row];
  writeEmptyTile(join(flight, `tile_${column}_${row}.las`), {
    points: 1_000_000,
    min: [x + 0.03, y + 0.03, 100],
    max: [x + SIDE - 0.03, y + SIDE - 0.03, 140],
    crs: { epsg: 25832, unit: 9001 },
    ...more,
  });
}
const catalogOf = () => JSON.parse(readFileSync(join(out, "catalog.json"), "utf8"));

test("a flight in squares: document, table and map", async () => {
  for (let column = 0; column < 3; column += 1) for (let row = 0; row < 3; row += 1) tile(column, row);
  const { code, stdout } = await command(root, ["catalog", flight, "--out", out]);
  expect(code).toBe(0);
  expect(readdirSync(out).sort()).toEqual(["catalog.csv", "catalog.json", "catalog.png"]);
  const found = catalogOf();
  expect(found).toMatchObject({ kind: "point-cloud-catalog", file_count: 9, points: 9_000_000, warnings: [] });
  expect(found.crs).toEqual([{ value: "EPSG:25832", files: 9 }]);
  expect(found.units).toEqual([{ value: "1 m", files: 9 }]);
  expect(found.layout).toMatchObject({
    overlap_count: 0,
    gap_count: 0,
    lattice: { size_m: SIDE, origin: [EAST, NORTH] },
  });
  expect(found.density).toBeCloseTo(1e6 / SIDE ** 2, 1);
  expect(found.layout.covered_m2 / (9 * SIDE ** 2)).toBeCloseTo(1, 2);
  const [head, ...rows] = readFileSync(join(out, "catalog.csv"), "utf8").trim().split("\n");
  expect([head?.split(",")[0], rows.length, rows[0]?.split(",").slice(0, 3)]).toEqual([
    "file",
    9,
    ["tile_0_0.las", "1000000", String(9 * 0 + 227 + 54 + 32 + 20_000_000)],
  ]);
  const { width, data } = PNG.sync.read(readFileSync(join(out, "catalog.png")));
  expect([width > 200, new Set(data).size > 10]).toEqual([true, true]);
  expect(stdout).toMatch(/^Tiles +squares of 250 m$/m);
});

test("gaps, overlaps, other systems, sparse and unreadable files are named", async () => {
  for (let column = 0; column < 3; column += 1)
    for (let row = 0; row < 3; row += 1) if (column !== 1 || row !== 1) tile(column, row);
  tile(3, 0, { points: 100_000 });
  tile(3, 1, { crs: { epsg: 25833, unit: 9001 } });
  tile(3, 2, { min: [EAST + 3 * SIDE - 50, NORTH + 2 * SIDE, 0] });
  writeFileSync(join(flight, "broken.laz"), "LASF");
  writeFileSync(join(flight, "scan.e57"), "E57");
  const { code, stdout } = await command(root, ["catalog", flight, "--out", out]);
  expect(code).toBe(0);
  const found = catalogOf();
  expect(found.layout).toMatchObject({ overlap_count: 1, gap_count: 1, lattice: null });
  const [overlap] = found.layout.overlaps;
  expect([found.files[overlap.a].name, found.files[overlap.b].name]).toEqual(["tile_2_2.las", "tile_3_2.las"]);
  expect(overlap.area_m2).toBeCloseTo((50 - 0.03) * (SIDE - 0.06), 3);
  expect(Math.abs(found.layout.gaps[0].area_m2 - SIDE ** 2)).toBeLessThan(0.3 * SIDE ** 2);
  expect(found.layout.gaps[0].min[0]).toBeGreaterThan(EAST + SIDE - 40);
  expect(found.skipped).toHaveLength(2);
  for (const text of [
    "different coordinate systems",
    "1 pair of files overlaps,",
    "1 gap between",
    "1 file has less than half",
    "scan.e57",
  ])
    expect([text, found.warnings.some((warning: string) => warning.includes(text))]).toEqual([text, true]);
  expect(stdout).toMatch(/^Warning: .*coordinate systems/m);
});

test("feet become metres, degrees are said", async () => {
  tile(0, 0, { min: [1000, 2000, 0], max: [2000, 3000, 50], crs: { epsg: 2229, unit: 9003 } });
  expect((await command(root, ["catalog", flight, "--out", out])).code).toBe(0);
  const { files } = catalogOf();
  expect(files[0].bounds.max[0]).toBeCloseTo((2000 * 1200) / 3937, 6);
  expect(files[0].density).toBeCloseTo(1e6 / ((1000 * 1200) / 3937) ** 2, 6);
});

test("refusals name the file and the way out", async () => {
  const refused = async (...inputs: string[]) => {
    const { code, stderr } = await command(root, ["catalog", ...inputs, "--out", out]);
    return [code, stderr];
  };
  expect(await refused(join(root, "none"))).toEqual([2, expect.stringContaining('none" cannot be read (ENOENT)')]);
  expect(await refused(flight)).toEqual([2, expect.stringContaining("no LAS or LAZ file")]);
  writeFileSync(join(flight, "a.las"), "x");
  expect(await refused(flight)).toEqual([2, expect.stringContaining("no file could be read")]);
  tile(0, 0);
  expect((await refused(flight))[0]).toBe(0);
  expect(await refused(flight)).toEqual([2, expect.stringContaining("--force")]);
});

test("1,000 tiles of 1 M points within 10 s", async () => {
  for (let i = 0; i < 1000; i += 1) tile(i % 40, Math.floor(i / 40));
  const stop = stopwatch();
  const { code } = await command(root, ["catalog", flight, "--out", out]);
  const times = stop();
  expect(code).toBe(0);
  expect(catalogOf()).toMatchObject({ file_count: 1000, points: 1e9, layout: { overlap_count: 0, gap_count: 0 } });
  expect(times.own_ms, JSON.stringify(times)).toBeLessThan(10_000);
});
