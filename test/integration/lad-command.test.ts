import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { parallelBeams, scanRows } from "../support/lad/beams.ts";
import { PLATE_AREA, plateScan } from "../support/lad/plate.ts";
import { readVoxelSpace } from "../support/lad/voxel-space.ts";
import { folderOfTest } from "../support/run/folders.ts";

let root = "";
let out = "";
let scan = "";
/** Density of the medium that fills the cube from -1 to 1; leaves of G = 0.5. */
const DENSITY = 1.2;
beforeEach(() => {
  root = folderOfTest("lad-");
  out = join(root, "out");
  scan = join(root, "leaves.csv");
  const beams = parallelBeams(2, 60, (i) => {
    const free = -Math.log(1 - (((i * 1009) % 3600) + 0.5) / 3600) / (0.5 * DENSITY);
    return free < 2 ? -1 + free : null;
  });
  writeFileSync(scan, `${scanRows(beams).join("\n").replaceAll(" ", ",")}\n`);
});
const args = (...more: string[]) => ["lad", scan, "--voxel", "1", "--out", out, "--g", "0.5", ...more];
const GRID = ["--origin", "-10,0,0", "--box", "-1,-1,-1,1,1,1"];
const rowsOf = (name: string) => readFileSync(join(out, name), "utf8").trim().split("\n");

test("profile, maps, tables, voxel space and report", async () => {
  const { code, stdout, stderr } = await command(root, args(...GRID, "--occlusion", "10", "--fill"));
  expect([code, stderr.split("\n")]).toEqual([
    0,
    ["Reading leaves.csv", "Inverting Beer's law", "Drawing pictures", "Writing the report", ""],
  ]);
  expect(readdirSync(out).sort()).toEqual([
    "lai.png",
    "occlusion.png",
    "profile.csv",
    "profile.png",
    "report.html",
    "section.png",
    "summary.json",
    "voxels.csv",
    "voxels.vox",
  ]);
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(summary.warnings.join("\n")).toMatch(
    /Wood that the beams met counts as leaves.* without --wood the leaf area is plant area/,
  );
  expect(summary.result.total_leaf_area).toBeCloseTo(8 * DENSITY, 0);
  expect(Math.abs(summary.result.total_leaf_area / (8 * DENSITY) - 1)).toBeLessThan(0.03);
  expect(summary.leaf_area_index).toBeCloseTo(summary.result.total_leaf_area / 4, 9);
  const [head = "", ...levels] = rowsOf("profile.csv").filter((row) => !row.startsWith("#"));
  const area = head.split(",").indexOf("leaf_area_m2");
  expect(levels.reduce((sum, row) => sum + Number(row.split(",")[area]), 0)).toBeCloseTo(
    summary.result.total_leaf_area,
    9,
  );
  const voxels = rowsOf("voxels.csv");
  expect(voxels).toHaveLength(9);
  expect(voxels[0]).toMatch(/^i,j,k,x_m,y_m,z_m,lad_m2_m3,/);
  expect(voxels[1]).toMatch(/^0,0,0,-0\.5,-0\.5,-0\.5,1\.\d+,/);
  const space = readVoxelSpace(readFileSync(join(out, "voxels.vox"), "utf8"));
  expect([space.min, space.max, space.split, space.edges]).toEqual([
    [-1, -1, -1],
    [1, 1, 1],
    [2, 2, 2],
    [1, 1, 1],
  ]);
  expect(space.value("PadBVTotal", 0, 0, 0)).toBeCloseTo(Number(voxels[1]?.split(",")[6]), 12);
  for (const name of readdirSync(out).filter((file) => file.endsWith(".png"))) {
    const { data } = PNG.sync.read(readFileSync(join(out, name)));
    expect(new Set(data).size).toBeGreaterThan(20);
  }
  const report = readFileSync(join(out, "report.html"), "utf8");
  expect(report).toContain("leaf area index");
  expect(stdout).toMatch(/Leaf area index/);
});

test("without a box the grid covers the hits, on multiples of the voxel; one JSON document", async () => {
  const { code, stdout } = await command(root, args("--origin", "-10,0,0", "--json"));
  expect(code).toBe(0);
  const { result } = JSON.parse(stdout);
  expect(result).toMatchObject({ grid_center: [0, 0, 0], grid_size: [2, 2, 2], nx: 2, ny: 2, nz: 2 });
});

test("the voxel space has the voxels of the table", async () => {
  const box = ["--origin", "-10,0,0", "--box", "-1,-1,-0.8,1.5,0.9,1"];
  expect((await command(root, args(...box, "--occlusion", "0.1"))).code).toBe(0);
  const space = readVoxelSpace(readFileSync(join(out, "voxels.vox"), "utf8"));
  const [head = "", ...rows] = rowsOf("voxels.csv");
  const names = head.split(",");
  expect(rows).toHaveLength(space.split.reduce((product, count) => product * count));
  expect(new Set(space.split).size).toBeGreaterThan(1);
  const seen = new Set<number>();
  for (const row of rows) {
    const cells = row.split(",");
    const of = (name: string) => Number(cells[names.indexOf(name)] || Number.NaN);
    const at = [of("i"), of("j"), of("k")] as const;
    expect(space.value("PadBVTotal", ...at)).toBeCloseTo(of("lad_m2_m3"), 9);
    expect(space.value("nbEchos", ...at)).toBe(of("hit_count"));
    expect(space.value("nbSampling", ...at)).toBe(of("beam_count"));
    expect(space.value("lgTotal", ...at)).toBeCloseTo(of("path_length_m"), 9);
    expect(space.value("transmittance", ...at)).toBeCloseTo(of("transmission"), 9);
    seen.add(of("hit_count"));
  }
  expect(seen.size).toBeGreaterThan(2);
});

test("wood apart from leaves by the labels of the scan", async () => {
  const [head, ...rows] = readFileSync(scan, "utf8").trim().split("\n");
  writeFileSync(scan, `${head},wood_class\n${rows.map((row, i) => `${row},${i % 2 ? 1 : 2}`).join("\n")}\n`);
  const { code, stdout } = await command(root, args(...GRID, "--occlusion", "10", "--wood"));
  expect(code).toBe(0);
  expect(stdout).toMatch(/Wood +\S+ m2 of surface/);
  const { result } = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(Math.abs(result.total_leaf_area / (4 * DENSITY) - 1)).toBeLessThan(0.05);
  // Half of the rate of interception, G x density, over the projection of wood.
  expect(Math.abs(result.total_wood_area / ((8 * 0.5 * 0.5 * DENSITY) / 0.25) - 1)).toBeLessThan(0.05);
  expect(rowsOf("voxels.csv")[0]).toMatch(/,wad_m2_m3,wood_area_m2,wood_fraction,wood_hit_count,leaf_hit_count$/);
  expect(readFileSync(join(out, "report.html"), "utf8")).toMatch(/split by the share of wood/);
});

test("leaf area by what two scanners see", async () => {
  const files = [-2, 2].map((x) => {
    const file = join(root, `from${x}.csv`);
    writeFileSync(file, `${scanRows(plateScan({ x })).join("\n").replaceAll(" ", ",")}\n`);
    return file;
  });
  const places = ["--origin", "-2,0,0", "--origin", "2,0,0", "--box", "-1,-1,-1,1,1,1"];
  const lad = ["lad", ...files, "--voxel", "1", "--out", out, "--g", "1", ...places];
  const { code, stdout } = await command(root, [...lad, "--views", "--range-noise", "0.001"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/Leaf area by views +\S+ m2/);
  const { result } = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(result.capture_recapture.leaf_area).toBeCloseTo(PLATE_AREA, 1);
  expect(readFileSync(join(out, "report.html"), "utf8")).toMatch(/The leaf area by views takes no voxels/);
});

test("occluded voxels have no density in the voxel space", async () => {
  expect((await command(root, args(...GRID, "--occlusion", "1e6"))).code).toBe(0);
  const space = readVoxelSpace(readFileSync(join(out, "voxels.vox"), "utf8"));
  for (let n = 0; n < 8; n += 1) {
    expect(space.value("PadBVTotal", n >> 2, (n >> 1) & 1, n & 1)).toBeNaN();
    expect(space.value("nbSampling", n >> 2, (n >> 1) & 1, n & 1)).toBeGreaterThan(0);
  }
});

test.each<[string, string[], RegExp]>([
  ["no scanner position", [], /leaves\.csv states no scanner position: give --origin/],
  ["another count of positions", ["--origin", "0,0,0", "--origin", "1,0,0"], /2 of 1 given/],
  ["a word for G", ["--g", "leafy"], /--g "leafy" must be a number.*spherical, planophile/],
  ["half a box", ["--origin", "0,0,0", "--box", "0,0,0"], /--box "0,0,0" must be 6 numbers/],
  ["energies of single returns", ["--leaf-intensity", "0.5"], /--leaf-intensity needs --multi/],
  ["noise without views", ["--range-noise", "0.01"], /--range-noise needs --views/],
  ["one scan by views", [...GRID, "--views"], /capture_recapture needs at least two scans/],
  ["energies of nothing", ["--multi", "--leaf-intensity", "0"], /--leaf-intensity "0" must be a number above 0/],
  ["no edge", ["--voxel", "0"], /--voxel "0" must be a positive number/],
  ["too many voxels", [...GRID, "--voxel", "0.001"], /2000 x 2000 x 2000 voxels \(limit 1000000\); 0\.0204 fits/],
])("%s is refused and nothing is written", async (_name, more, sentence) => {
  const { code, stderr } = await command(root, args(...more));
  expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
  expect(existsSync(out)).toBe(false);
});
