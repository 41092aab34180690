// What `analyze` says of scans of each kind, and of files with several scans.
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runReal } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { e57Bytes, e57Points, e57Pose } from "../support/scans/e57-bytes.ts";
import { testScan } from "../support/scans/scans.ts";

let folder = "";
let out = "";
beforeEach(() => {
  folder = folderOfTest("analyze-scans-");
  out = join(folder, "out");
});

/** The command line in this process, without the start of one. */
const here = (args: readonly string[]) => runReal(folder, args, undefined, false);

/** Header and cells with a value of an ESRI ASCII grid. */
async function asciiGrid(path: string): Promise<[Record<string, number>, number[]]> {
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  const header = Object.fromEntries(lines.slice(0, 6).map((line) => line.split(" ") as [string, string]));
  const numbers = Object.entries(header).map(([name, text]) => [name, Number(text)] as const);
  const cells = lines.slice(6).flatMap((line) => line.split(" ").map(Number));
  return [Object.fromEntries(numbers), cells.filter((value) => value !== -9999)];
}

test("a real scan from a LAS file", async () => {
  const scan = testScan("trees_tls/itsme_tree1.las");
  if (!scan) return;
  const { code, stdout } = await here(["analyze", scan, "--out", out, "--format", "csv", "--picture-size", "400"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Points +30 826$/m);
  const rows = (await readFile(join(out, "itsme_tree1_copy.csv"), "utf8")).split("\n");
  expect(rows).toHaveLength(1 + 30_826);
});

test("ground, terrain and canopy of a real plot; the copy contains the columns", async () => {
  const scan = testScan("als/pyfor_pine_200m.laz");
  if (!scan) return;
  const { code, stdout } = await here(["analyze", scan, "--out", out, "--json", "--picture-size", "300"]);
  expect(code).toBe(0);
  const { terrain, outputs, attributes, parameters, scene } = JSON.parse(stdout);
  expect(terrain).toMatchObject({
    noise: { done: true, over_removal: false, method: "auto" },
    ground: { done: true, method: "auto" },
    dtm: { done: true, ground_source: "column", cell_m: 1, cells: [200, 200] },
    dsm: { done: true, cells: [200, 200] },
    chm: { done: true },
  });
  const { num_ground, num_plant } = terrain.ground;
  expect(num_ground + num_plant).toBe(217_222);
  expect(num_ground).toBeGreaterThan(100_000);
  expect(terrain.noise.flagged).toBeLessThan(5000);
  const [low, high] = terrain.dtm.range;
  expect(low).toBeGreaterThan(36);
  expect(high).toBeLessThan(43);
  expect(terrain.chm.range[1]).toBeGreaterThan(15);
  expect(terrain.chm.range[1]).toBeLessThan(25);
  expect(attributes.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(["noise_class", "ground_class", "height_above_ground"]),
  );
  expect(scene).toMatchObject({ kind: "airborne", asked: false });
  expect(JSON.parse(await readFile(outputs.summary, "utf8"))).toEqual(JSON.parse(stdout));
  const names = ["dtm.tif", "dtm.asc", "dsm.tif", "dsm.asc", "chm.tif", "chm.asc"];
  expect(outputs.rasters.map((path: string) => path.split("/").at(-1))).toEqual(names);
  const [header, cells] = await asciiGrid(join(out, "dtm.asc"));
  expect(header).toEqual({
    ncols: 200,
    nrows: 200,
    xllcorner: 405000,
    yllcorner: 3276300,
    cellsize: 1,
    NODATA_value: -9999,
  });
  expect(Math.min(...cells)).toBeCloseTo(low, 3);
  expect(Math.max(...cells)).toBeCloseTo(high, 3);
  expect(parameters).toMatchObject({ denoise: true, ground: "auto", dem: true });
  expect(outputs.pictures.map((path: string) => path.split("/").at(-1))).toEqual(
    expect.arrayContaining(["dtm_hillshade.png", "chm.png", "ground_profile.png"]),
  );
  const report = await readFile(outputs.report, "utf8");
  expect(report).toContain("Profile of the ground");
  expect(report).toContain("as GeoTIFF and ASCII grid");
});

test("a tree: neither ground nor heights, unless --scene asks; then the report gives the reason", async () => {
  const scan = testScan("trees_tls/itsme_tree1.las");
  if (!scan) return;
  const base = ["analyze", scan, "--out", out, "--no-denoise", "--picture-size", "200"];
  const tree = await here(base);
  expect(tree.code).toBe(0);
  expect(tree.stdout).toMatch(/^Noise +left out \(--no-denoise\)$/m);
  expect(tree.stdout).toMatch(/^Scene +tree \(a tree, or trees without ground\): 22 m high and 5\.3 m wide/m);
  expect(tree.stdout).not.toMatch(/ground points|canopy|terrain|plant|density/i);
  expect((await readFile(join(out, "report.html"), "utf8")).match(/plant points|canopy height/gi)).toBeNull();
  const plot = await here([...base, "--scene", "plot", "--force"]);
  expect(plot.stdout).toMatch(
    /^Terrain heights \(DTM\) +not possible: \d+ ground points of 30826 are too few for a terrain$/m,
  );
  expect(await readdir(out)).not.toContain("dtm_hillshade.png");
});

test.each([
  ["pcd/room_scan1.pcd", "object"],
  ["e57/bunnyFloat.e57", "object"],
  ["trees_composite/composite_plot_a.laz", "plot"],
  ["als/autzen_trim.laz", "airborne"],
])("%s is taken for: %s", async (file, kind) => {
  const scan = testScan(file);
  if (!scan) return;
  const options = ["--no-denoise", "--no-ground", "--no-dem", "--picture-size", "200", "--json"];
  const { code, stdout } = await here(["analyze", scan, "--out", out, ...options]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).scene).toMatchObject({ kind, asked: false });
});

test("a room with doubled points: warnings on the spacing and on noise", async () => {
  const scan = testScan("pcd/room_scan1.pcd");
  if (!scan) return;
  const { code, stdout } = await here(["analyze", scan, "--out", out, "--picture-size", "200", "--json"]);
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result.warnings).toEqual([
    expect.stringMatching(/^At least half of the points share their position/),
    expect.stringMatching(
      /^About 100 % of the points stand at the place of another one, which counts as a neighbour: noise that comes twice is not found/,
    ),
  ]);
  expect(result.point_spacing_m).toBeGreaterThan(0.001);
});

test("a scan in feet is reported in metres, and its coordinate system is gone", async () => {
  const scan = testScan("als/autzen_trim.laz");
  if (!scan) return;
  const { code, stdout } = await here(["analyze", scan, "--out", out, "--json"]);
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect((await stat(result.outputs.report)).size).toBeLessThan(5_000_000); // 6.6 million with pictures of full size
  expect(result.source_units).toBe("ft");
  const feet = [1177.46, 562.7, 114.25]; // the header's bounds
  for (const [axis, length] of feet.entries()) expect(result.extent_m[axis]).toBeCloseTo(length * 0.3048, 2);
  expect(result.terrain.chm.range[1]).toBeLessThan(114.25 * 0.3048);
  expect(result.warnings).toEqual([
    expect.stringMatching(/coordinate system of the file .* does not count in metres/),
    expect.stringMatching(/^The terrain of every second ground point differs by 0\.10 m \(root mean square\)/),
    expect.stringMatching(/^Half of the ground's returns lie more than 3\.\d cm above .* too low\.$/),
    expect.stringMatching(/^The height of the canopy depends on the density of the returns/),
  ]);
});

test("a file with several scans: every scan with its misses, in the report and as a table", async () => {
  const scan = e57Points(
    [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    `<name type="String">North &amp; "east"</name>${e57Pose([10, 20, 30])}`,
  );
  const marked = {
    ...scan,
    fields: [...scan.fields, { name: "cartesianInvalidState", type: "u8" as const, values: [0, 0, 1] }],
  };
  const cloud = join(folder, "two.e57");
  await writeFile(cloud, e57Bytes([marked, e57Points([[5, 5, 5]])]));
  const { code, stdout } = await here(["analyze", cloud, "--out", out, "--json", "--picture-size", "200"]);
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result.counts).toMatchObject({ rows: 4, points: 3, misses: 1 });
  expect(result).toMatchObject({
    declared_rows: 4,
    scans: [{ miss_count: 1, origin: [10, 20, 30] }, { origin: null }],
  });
  expect(await readFile(result.outputs.scans, "utf8")).toBe(
    [
      "scan_index,name,rows,misses,unplaceable_misses,origin_x,origin_y,origin_z,n_theta,n_phi,theta_min,theta_max,phi_min,phi_max",
      '0,"North & ""east""",3,1,0,10,20,30,,,,,,',
      "1,,1,0,0,,,,,,,,,",
      "",
    ].join("\n"),
  );
  expect(await readFile(result.outputs.report, "utf8")).toContain("<h2>Scans</h2>");
});

test.each(["laz", "e57", "ptx", "ply", "pcd", "pts"])("a %s file of the test data", async (kind) => {
  const scan = testScan(
    {
      laz: "las/formats/point10.las.laz",
      e57: "e57/pdal_A_moved_B.e57",
      ptx: "ptx_pts/multiple-and-transform.ptx",
      ply: "ply/trimesh_points_bin.ply",
      pcd: "pcd/simple-ascii.pcd",
      pts: "ptx_pts/test.pts",
    }[kind] ?? "",
  );
  if (!scan) return;
  const { code, stdout, stderr } = await here(["analyze", scan, "--out", out, "--json", "--picture-size", "200"]);
  expect([code, stderr.match(/error.*/i)?.[0]]).toEqual([0, undefined]);
  const { scans, counts } = JSON.parse(stdout);
  expect(counts.rows).toBeGreaterThan(0);
  expect(scans).toHaveLength(kind === "e57" || kind === "ptx" ? 2 : 0);
});
