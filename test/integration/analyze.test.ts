import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { Archive } from "../../backend/services/projects/archive-read.ts";
import { projectSummary, verifyProject } from "../../backend/services/projects/inspect.ts";
import { decodeScene } from "../../shared/wire/psc1-decode.ts";
import { runReal } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { stopwatch, type Times } from "../support/run/stopwatch.ts";
import { e57Bytes, e57Points, e57Pose } from "../support/scans/e57-bytes.ts";
import { testScan, writeSpiral } from "../support/scans/scans.ts";

const MAIN = fileURLToPath(new URL("../../dist/backend/entry/headless.js", import.meta.url));

let folder = "";
let out = "";
beforeEach(() => {
  folder = folderOfTest("analyze-");
  out = join(folder, "out");
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built command line; `onStderr` sees what it has said so far. */
async function command(
  args: readonly string[],
  onStderr: (text: string, interrupt: () => void, pid: number) => void = () => undefined,
) {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing; run "npm run build" first`);
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: {
      ...process.env,
      APP_DATA_DIR: join(folder, "data"),
      APP_OCTREE_CACHE_ROOT: join(folder, "octrees"),
      APP_AUTH_TOKEN: "",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    onStderr(stderr, () => child.kill("SIGINT"), child.pid ?? process.pid);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr } satisfies Ended;
}

/** The same in this process, without the start of one. */
const here = (args: readonly string[]) => runReal(folder, args, undefined, false);

/** Header and cells with a value of an ESRI ASCII grid. */
async function asciiGrid(path: string): Promise<[Record<string, number>, number[]]> {
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  const header = Object.fromEntries(lines.slice(0, 6).map((line) => line.split(" ") as [string, string]));
  const numbers = Object.entries(header).map(([name, text]) => [name, Number(text)] as const);
  const cells = lines.slice(6).flatMap((line) => line.split(" ").map(Number));
  return [Object.fromEntries(numbers), cells.filter((value) => value !== -9999)];
}

test("a text cloud becomes report, pictures and copy; --json names their paths", async () => {
  const cloud = join(folder, "spiral.xyz");
  const count = await writeSpiral(cloud, 20_000);
  const { code, stdout, stderr } = await command([
    ...["analyze", cloud, "--out", out, "--json", "--picture-size", "300", "--scene", "plot"],
    ...["--project", join(folder, "kept", "spiral.proj")],
  ]);
  expect(stderr).toContain("Drawing pictures");
  expect(code).toBe(0);
  const result = JSON.parse(stdout);
  expect(result.counts).toMatchObject({ points: count, rows: count, misses: 0 });
  expect(result.sample).toEqual({ points: count, of: count });
  expect(result.extent_m[2]).toBeCloseTo(10 * (1 - 1 / count), 2);
  expect(result.density.is_estimate).toBe(false);
  expect(await readdir(out)).toHaveLength(3 + result.outputs.pictures.length + result.outputs.rasters.length);
  for (const path of result.outputs.pictures) {
    const { width, height, data } = PNG.sync.read(await readFile(path));
    expect(Math.max(width, height)).toBeGreaterThan(300); // 300 without axes and legend
    expect(Math.max(width, height)).toBeLessThan(700);
    expect(data.some((value) => value < 128)).toBe(true);
  }
  const copy = await readFile(result.outputs.copy);
  expect(copy.subarray(0, 4).toString()).toBe("LASF");
  expect(Number(copy.readBigUInt64LE(247))).toBe(count); // LAS 1.4: number of point records
  expect(await readFile(result.outputs.report, "utf8")).toContain("<h1>spiral.xyz</h1>");
  const { project } = result.outputs;
  expect(await readdir(join(folder, "kept"))).toEqual(["spiral.proj"]);
  const { sessions } = await projectSummary(project);
  expect(sessions).toMatchObject([{ source: cloud, rows: count }]);
  expect(sessions[0]?.columns).toEqual(expect.arrayContaining(["noise_class", "ground_class"]));
  expect(await verifyProject(project, new AbortController().signal)).toBeGreaterThan(4);
  const archive = await Archive.open(project);
  const scene: Buffer[] = [];
  for await (const chunk of archive.chunks("scene.bin")) scene.push(chunk);
  archive.close();
  const cacheId = expect.stringMatching(/^[0-9a-f]{40}$/);
  expect(decodeScene(Buffer.concat(scene))).toEqual({
    clouds: [{ sessionId: sessions[0]?.key, name: "spiral.xyz", cacheId, missOctreeCacheId: null }],
  });
  // The service of the run has left nothing but its cache.
  expect((await readdir(folder)).filter((name) => name.startsWith("."))).toEqual([]);
});

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
  expect(parameters).toMatchObject({ denoise: true, ground: true, dem: true });
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
  expect(result.warnings).toHaveLength(2);
  expect(result.warnings).toContainEqual(expect.stringMatching(/^At least half of the points share their position/));
  expect(result.warnings).toContainEqual(
    expect.stringMatching(/^About \d+ % of the points stand at the place of another/),
  );
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
  expect(result.warnings).toEqual([expect.stringMatching(/coordinate system of the file .* does not count in metres/)]);
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

test("Ctrl-C exits 130 and leaves the output folder unchanged", async () => {
  const cloud = join(folder, "large.xyz");
  await writeSpiral(cloud, 400_000);
  await mkdir(out);
  await writeFile(join(out, "report.html"), "an older report");
  let stop: (() => Times) | undefined;
  let times: Times | undefined;
  const { code, stdout, stderr } = await command(
    ["analyze", cloud, "--out", out, "--force"],
    (text, interrupt, pid) => {
      if (!stop && text.includes("Reading the cloud")) {
        stop = stopwatch(pid);
        interrupt();
      }
    },
  ).finally(() => {
    times = stop?.();
  });
  expect([code, stdout]).toEqual([130, ""]);
  expect(stderr).toContain("Canceled; nothing was written.");
  expect(times?.own_ms, JSON.stringify(times)).toBeLessThan(1250); // to cancel, and to stop the service
  expect(await readdir(out)).toEqual(["report.html"]);
});

test("a file that is not a cloud exits 2 with the reason and creates no folder", async () => {
  const cloud = join(folder, "broken.las");
  await writeFile(cloud, "this is no LAS file");
  const { code, stdout, stderr } = await command(["analyze", cloud, "--out", out, "--json"]);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain("broken.las");
  expect(existsSync(out)).toBe(false);
});

describe("edits before the report", () => {
  /** Points at x = 0, 1, ..., 9 in the world at 476000, class = x mod 3. */
  const line = async (name: string, y: number) => {
    const path = join(folder, name);
    const rows = Array.from({ length: 10 }, (_, x) => `${476000 + x} ${y} ${x / 10} ${x % 3}`);
    await writeFile(path, ["x y z class", ...rows].join("\n"));
    return path;
  };
  const SHIFT = ["--shift", "476000,0,0"];

  test("merge, crop in true world coordinates and filter; the copy contains what is left", async () => {
    const [first, second] = [await line("a.txt", 0), await line("b.txt", 5)];
    // x 476002 to 476008 of both lines: 14 points, those of class 1 and 2: x = 2, 4, 5, 7, 8
    const rules = ["--crop", "476002,-1,-1,476008,9,9", "--filter", "class=1,2"];
    const { code, stdout } = await here([
      ...["analyze", first, "--merge", second, ...SHIFT, ...rules, "--out", out, "--format", "csv", "--json"],
      ...["--picture-size", "200"],
    ]);
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      counts: { points: 10, rows: 20 },
      edits: { merged: [{ path: second, points: 10, rows: 10 }], points_before: 20, points_dropped: 10 },
      bounds_world: { min: [476002, 0, 0.2], max: [476008, 5, 0.8] },
      world_shift: [476000, 0, 0],
    });
    const [header = "", ...rows] = (await readFile(result.outputs.copy, "utf8")).trim().split("\n");
    expect(header).toMatch(/^x,/i);
    expect(rows.map((row) => Number(row.split(",")[0])).sort()).toEqual(
      [2, 2, 4, 4, 5, 5, 7, 7, 8, 8].map((x) => 476000 + x),
    );
    const report = await readFile(result.outputs.report, "utf8");
    expect(report.includes("<td>b.txt (10 points)</td>")).toBe(true);
    expect(report.includes("Points dropped</th><td>10 of 20</td>")).toBe(true);
  });

  test.each([
    [["--filter", "clas=1..2"], /Unknown scalar attribute: 'clas'\. Available: \[class\]/],
    [
      ["--crop", "0,0,0,1,1,1", "--filter", "class=1.."],
      /no point is left by --crop 0,0,0,1,1,1 and --filter class=1\.\.: the cloud extends from 476000, 0, 0 to 476009, 0, 0\.9; use a larger box or range/,
    ],
  ])("%j exits 2 with a way out", async (rules, message) => {
    const { code, stdout, stderr } = await here(["analyze", await line("a.txt", 0), ...SHIFT, ...rules, "--out", out]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
    expect(existsSync(out)).toBe(false);
  });

  test("the copy never replaces a merged file", async () => {
    const first = await line("a.txt", 0);
    const { code } = await here(["analyze", first, "--out", out, "--format", "csv", "--picture-size", "200"]);
    expect(code).toBe(0);
    const copy = join(out, "a_copy.csv");
    const before = await readFile(copy, "utf8");
    const again = await here(["analyze", first, "--merge", copy, "--out", out, "--format", "csv", "--force"]);
    expect([again.code, await readFile(copy, "utf8")]).toEqual([2, before]);
    expect(again.stderr).toMatch(/would be replaced by the copy of this run; choose another --out or --format/);
  });
});

test("a file without points, alone or merged, exits 2 with one line", async () => {
  const empty = join(folder, "empty.e57");
  const cloud = join(folder, "one.xyz");
  await writeFile(empty, e57Bytes([e57Points([])]));
  await writeFile(cloud, "1 2 3\n4 5 6\n");
  for (const files of [[empty], [cloud, "--merge", empty]]) {
    const { code, stdout, stderr } = await here(["analyze", ...files, "--out", out]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.trimEnd().split("\n").at(-1)).toBe(`${empty} contains no points; there is nothing to analyze`);
    expect(existsSync(out)).toBe(false);
  }
});
