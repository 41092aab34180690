import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";

const FAR = [476_000, 5_429_000, 100] as const;
const RADIUS = 2;

let root = "";
let ball = "";
let sheet = "";
/** A sphere of 2 m, and a sloping sheet of 3 m x 3 m, both in true world coordinates. */
beforeEach(() => {
  root = folderOfTest("mesh-");
  ball = join(root, "ball.xyz");
  sheet = join(root, "sheet.xyz");
  const sphere = Array.from({ length: 4000 }, (_, i) => {
    // Fibonacci lattice.
    const z = 1 - (2 * i + 1) / 4000;
    const turn = i * Math.PI * (3 - Math.sqrt(5));
    const r = Math.sqrt(1 - z * z);
    return [r * Math.cos(turn), r * Math.sin(turn), z]
      .map((value, k) => (RADIUS * value + (FAR[k] ?? 0)).toFixed(6))
      .join(" ");
  });
  writeFileSync(ball, `${sphere.join("\n")}\n`);
  const grid = Array.from({ length: 31 * 31 }, (_, i) => {
    const [x, y] = [(i % 31) / 10, Math.floor(i / 31) / 10];
    return [x + FAR[0], y + FAR[1], 0.5 * x + FAR[2]].map((value) => value.toFixed(4)).join(" ");
  });
  writeFileSync(sheet, `${grid.join("\n")}\n`);
});

test("a sphere becomes a closed mesh, a report and pictures from five sides", async () => {
  const file = join(root, "ball.ply");
  const { code, stdout, stderr } = await command(root, [
    "mesh",
    ball,
    "--out",
    file,
    "--normal-radius",
    "0.5",
    "--depth",
    "6",
  ]);
  expect([code, stderr.split("\n")]).toEqual([
    0,
    ["Reading ball.xyz", "Making the mesh", "Drawing pictures", "Writing the mesh", "Writing the report", ""],
  ]);
  const report = join(root, "ball_report");
  expect(readdirSync(report).sort()).toEqual([
    "front.png",
    "northwest.png",
    "report.html",
    "side.png",
    "southeast.png",
    "summary.json",
    "top.png",
  ]);
  const { mesh, reconstruction, outputs } = JSON.parse(readFileSync(join(report, "summary.json"), "utf8"));
  expect(outputs.mesh).toBe(file);
  // The sphere: 4 pi r^2 and 4/3 pi r^3; the octree has cells of 7 cm.
  expect(Math.abs(mesh.area_m2 / (16 * Math.PI) - 1)).toBeLessThan(0.01);
  expect(Math.abs(mesh.volume_m3 / ((32 / 3) * Math.PI) - 1)).toBeLessThan(0.01);
  expect(mesh).toMatchObject({ is_closed: true, boundary_edge_count: 0, component_count: 1, file_shift: null });
  expect(mesh.triangle_count).toBe(reconstruction.num_triangles);
  expect(stdout).toMatch(/^Closed +yes$/m);
  // Millimetres survive in true world coordinates: every vertex lies on the sphere.
  const bytes = readFileSync(file);
  const body = bytes.indexOf("end_header\n") + 11;
  const stride = 24 + 12;
  for (let i = 0; i < mesh.vertex_count; i += 1) {
    const place = [0, 8, 16].map((at, k) => bytes.readDoubleLE(body + stride * i + at) - (FAR[k] ?? 0));
    expect(Math.abs(Math.hypot(...place) - RADIUS)).toBeLessThan(0.02);
  }
  // The picture of a sphere from above: lit from the upper left, white outside.
  const { width, data } = PNG.sync.read(readFileSync(join(report, "top.png")));
  const html = readFileSync(join(report, "report.html"), "utf8");
  expect(html.match(/src="data:image\/png/g)).toHaveLength(5);
  const shades = new Set<number>();
  for (let i = 0; i < data.length; i += 4) if ((data[i] ?? 0) > 80 && (data[i] ?? 0) < 240) shades.add(data[i] ?? 0);
  expect([width > 200, shades.size > 40]).toEqual([true, true]);
});

test.each([
  ["stl", true],
  ["glb", true],
  ["obj", false],
] as const)("a sheet far from the origin as %s", async (format, isShifted) => {
  const file = join(root, `sheet.${format}`);
  const { code, stdout } = await command(root, ["mesh", sheet, "--method", "delaunay", "--out", file, "--json"]);
  expect(code).toBe(0);
  const { mesh, warnings } = JSON.parse(stdout);
  expect(mesh).toMatchObject({
    format,
    triangle_count: 1800,
    vertex_count: 961,
    boundary_edge_count: 120,
    is_closed: false,
    volume_m3: null,
  });
  expect(mesh.area_m2).toBeCloseTo(9 * Math.hypot(1, 0.5), 4);
  expect(mesh.file_shift).toEqual(isShifted ? [476_002, 5_429_002, 101] : null);
  expect(warnings.filter((text: string) => /24 bits/.test(text))).toHaveLength(isShifted ? 1 : 0);
  const bytes = readFileSync(file);
  if (format === "stl") expect(bytes.length).toBe(84 + 50 * 1800);
  if (format === "glb") expect(bytes.toString("latin1", 0, 4)).toBe("glTF");
  if (format === "obj") expect(bytes.toString()).toMatch(/^v 476000\.0\d* 5429000\.0\d* 100\.0\d*$/m);
});

test("an earlier mesh is replaced with --force only, and a failure leaves it alone", async () => {
  const file = join(root, "sheet.stl");
  writeFileSync(file, "mine");
  const args = ["mesh", sheet, "--method", "delaunay", "--out", file];
  const refused = await command(root, args);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringMatching(/sheet\.stl" exists; choose another name, or replace it with --force/),
  ]);
  const failed = await command(root, [
    "mesh",
    sheet,
    "--method",
    "alpha_shape",
    "--alpha",
    "1e-9",
    "--out",
    file,
    "--force",
  ]);
  expect(failed.code).toBe(2);
  expect([readFileSync(file, "utf8"), existsSync(join(root, "sheet_report"))]).toEqual(["mine", false]);
  expect((await command(root, [...args, "--force"])).code).toBe(0);
  expect(readFileSync(file).length).toBe(84 + 50 * 1800);
  // Now the report is there as well.
  writeFileSync(join(root, "x"), "");
  expect((await command(root, args)).code).toBe(2);
  expect((await command(root, [...args, "--force"])).code).toBe(0);
});

describe("refusals leave nothing behind and exit 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["another ending", ["BALL", "--out", "OUT.off"], /must be a file that ends with \.ply, \.glb, \.obj, \.stl/],
    ["no ending", ["BALL", "--out", "OUT"], /must be a file that ends with/],
    ["another method", ["BALL", "--out", "OUT.ply", "--method", "nurbs"], /--method "nurbs" is not one of/],
    [
      "an option of another method",
      ["BALL", "--out", "OUT.ply", "--radii", "0.1"],
      /--radii belongs to ball_pivoting, not to poisson/,
    ],
    [
      "normals for a triangulation",
      ["BALL", "--out", "OUT.ply", "--method", "delaunay", "--normal-radius", "1"],
      /--normal-radius belongs to poisson and ball_pivoting/,
    ],
    ["too deep", ["BALL", "--out", "OUT.ply", "--depth", "13"], /--depth "13" must be a whole number from 1 to 12/],
    [
      "no radius",
      ["BALL", "--out", "OUT.ply", "--method", "ball_pivoting", "--radii", "0.1,0"],
      /--radii "0" must be a positive/,
    ],
    ["a mesh", ["MESH", "--out", "OUT.ply"], /<cloud> must be a point cloud; "m.obj" is a mesh/],
    ["a folder", ["BALL", "--out", "DIR.ply"], /is not a file; choose another name/],
    ["a folder that cannot be", ["BALL", "--out", "BALL/x.ply"], /must be a writable folder|x_report/],
    ["a cut cloud", ["CUT", "--out", "OUT.ply"], /cut\.las/],
  ])("%s", async (_name, args, why) => {
    writeFileSync(join(root, "m.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    writeFileSync(join(root, "cut.las"), "LASF, and then nothing");
    mkdirSync(join(root, "dir.ply"));
    const before = readdirSync(root).sort();
    const named = (word: string) =>
      word
        .replace("BALL", ball)
        .replace("MESH", join(root, "m.obj"))
        .replace("OUT", join(root, "out"))
        .replace("DIR", join(root, "dir"))
        .replace("CUT", join(root, "cut.las"));
    const { code, stdout, stderr } = await command(root, ["mesh", ...args.map(named)]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(
      readdirSync(root)
        .filter((name) => name !== "data" && name !== "octrees")
        .sort(),
    ).toEqual(before);
  });
});

test("canceled while the mesh is made: exit 130, and no output", async () => {
  const { code, stderr } = await command(root, ["mesh", ball, "--out", join(root, "ball.ply")], (text, cancel) => {
    if (text.endsWith("Making the mesh\n")) cancel();
  });
  expect([code, stderr]).toEqual([130, expect.stringMatching(/Canceled; nothing was written\.\n$/)]);
  expect([existsSync(join(root, "ball.ply")), existsSync(join(root, "ball_report"))]).toEqual([false, false]);
});
