import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { writeMesh } from "../../backend/cli/meshes/write.ts";
import { runReal } from "../support/cli/real-command-line.ts";
import { cube } from "../support/cli/surfaces.ts";
import { folderOfTest } from "../support/run/folders.ts";

let root = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("scan-");
  out = join(root, "out");
});
const command = (...argv: readonly string[]) => runReal(root, ["scan", ...argv, "--out", out], undefined, false);

/** x, y, z of every row of a CSV cloud. */
function rows(name: string) {
  const [header = "", ...lines] = readFileSync(join(out, name), "utf8").trim().split("\n");
  const names = header.split(",");
  return lines.map((line) => {
    const values = line.split(",").map(Number);
    return Object.fromEntries(
      names.map((field, i) => [field.replaceAll('"', "").trim().toLowerCase(), values[i] ?? 0]),
    );
  });
}

test("a cube far from the origin is scanned from four sides, each point on its surface", async () => {
  const mesh = join(root, "cube.ply");
  const far = [476_000, 5_429_000, 100] as const;
  await writeMesh(cube(far), "ply", mesh, new AbortController().signal);
  const { code, stdout, stderr } = await command(mesh, "--positions", "4", "--step", "1", "--format", "csv", "--json");
  expect([code, stderr.includes("Scanning")]).toEqual([0, true]);
  const told = JSON.parse(stdout);
  expect(readdirSync(out).sort()).toEqual(["scan_1.csv", "scan_2.csv", "scan_3.csv", "scan_4.csv", "summary.json"]);
  expect(JSON.parse(readFileSync(join(out, "summary.json"), "utf8"))).toEqual(told);
  expect(told.scans).toHaveLength(4);
  for (let k = 1; k <= 4; k += 1) {
    const points = rows(`scan_${k}.csv`);
    expect(points).toHaveLength(told.scans[k - 1].hit_count);
    expect(points.length).toBeGreaterThan(50);
    for (const point of points) {
      const local = ["x", "y", "z"].map((axis, i) => (point[axis] ?? Number.NaN) - (far[i] ?? 0));
      const off = Math.min(...local.flatMap((value) => [Math.abs(value), Math.abs(value - 1)]));
      expect(off).toBeLessThan(2e-3); // the file has millimetres
      expect(local.every((value) => value > -2e-3 && value < 1.002)).toBe(true);
    }
  }
  expect((await command(mesh, "--step", "1")).stderr).toMatch(/holds summary\.json of an earlier run/);
});

test("a plant is scanned with the settings of an instrument, organ codes included", async () => {
  const args = ["bean:20", "--scanner", "riegl_vz400i", "--step", "0.5", "--rays", "10", "--format", "csv"];
  const { code, stdout } = await command(...args);
  expect(code).toBe(0);
  expect(stdout).toMatch(/RIEGL VZ-400i/);
  const points = rows("scan_1.csv");
  expect(new Set(points.map(({ organ }) => organ))).toContain(1);
  expect(points.every(({ z = -1 }) => z > -0.1 && z < 1)).toBe(true);
});

test.each(["generic", "velodyne_hdl32e", "livox_mid40"])("%s looks at the object", async (scanner) => {
  const mesh = join(root, "cube.ply");
  await writeMesh(cube([10, 20, 30]), "ply", mesh, new AbortController().signal);
  const args = [mesh, "--scanner", scanner, "--positions", "2", "--seconds", "0.02", "--height", "0.5", "--rays", "1"];
  const { code, stdout } = await command(...args, "--json");
  expect(code).toBe(0);
  const { scans, warnings } = JSON.parse(stdout);
  for (const { hit_count } of scans) expect(hit_count).toBeGreaterThan(20);
  expect(warnings.filter((text: string) => text.includes("mean nothing"))).toEqual([]);
});

test("wrong options are refused before anything is written", async () => {
  const mesh = join(root, "cube.ply");
  await writeMesh(cube([0, 0, 0]), "ply", mesh, new AbortController().signal);
  writeFileSync(join(root, "points.csv"), "x,y,z\n1,2,3\n");
  const refusals: readonly (readonly [RegExp, ...string[]])[] = [
    [/did you mean "riegl_vz400i"\?/, mesh, "--scanner", "riegl_vz400"],
    [/--positions "0"/, mesh, "--positions", "0"],
    [/--step "0"/, mesh, "--step", "0"],
    [/--format "docx"/, mesh, "--format", "docx"],
    [/must be a mesh/, join(root, "points.csv")],
    [/<species> "triffid" is unknown/, "triffid:3"],
    [/pulses, more than 20000000/, mesh, "--step", "0.0001"],
    [/outside the scanner's field of view/, mesh, "--height", "-40"],
  ];
  for (const [text, ...argv] of refusals) {
    const { code, stderr } = await command(...argv);
    expect([argv.join(" "), code, stderr]).toEqual([argv.join(" "), 2, expect.stringMatching(text)]);
  }
  expect(existsSync(out)).toBe(false);
});

test("a mesh that is not in metres is told", async () => {
  const mesh = join(root, "table.obj");
  const wall = (size: number) => `v 0 0 0\nv ${size} 0 0\nv ${size} 0 ${size}\nv 0 0 ${size}\nf 1 2 3\nf 1 3 4\n`;
  writeFileSync(mesh, wall(900)); // millimetres of a table
  const hit = await command(mesh, "--distance", "500", "--step", "2");
  expect(hit.stdout).toMatch(/Size x, y, z +900 x 0 x 900 m/);
  const missed = await command(mesh, "--step", "2", "--distance", "2000000", "--force");
  expect([missed.code, missed.stderr]).toEqual([
    2,
    expect.stringContaining("which measures 900 x 0 x 900 m; use a smaller --step or --distance, and convert a mesh"),
  ]);
  expect(hit.stdout).toMatch(/^Warning: The object measures 900 x 0 x 900 m: a mesh whose coordinates/m);
});

test("E57 clouds keep where the scanner stood: lad needs no --origin for them", async () => {
  const scanned = await command("bean:20", "--positions", "2", "--step", "1", "--misses", "--format", "e57", "--json");
  expect(scanned.code).toBe(0);
  const told = JSON.parse(scanned.stdout);
  expect(told.warnings.join()).toMatch(/E57 stores 8 bits per channel/); // what the format loses is said
  const leaves = join(root, "leaves");
  const files = ["scan_1.e57", "scan_2.e57"].map((name) => join(out, name));
  const lad = (...scans: readonly string[]) =>
    runReal(root, ["lad", ...scans, "--voxel", "0.2", "--out", leaves, "--force"], undefined, false);
  const { code, stdout } = await lad(...files);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/Scans +scan_1\.e57, scan_2\.e57/)]);
  expect((await command("bean:20", "--step", "1", "--misses", "--force")).code).toBe(0);
  expect((await lad(join(out, "scan_1.las"))).stderr).toMatch(/states no scanner position: give --origin/);
});
