import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { writeMesh } from "../../backend/cli/meshes/write.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { cube } from "../support/cli/surfaces.ts";
import { folderOfTest } from "../support/run/folders.ts";

const signal = new AbortController().signal;
const FAR = [476_000, 5_429_000, 100] as const;

let root = "";
let out = "";
let mesh = "";
let cloud = "";
/** Heights above the top of the cube, one column of points each; negative = inside. */
const HEIGHTS = [-0.25, 0, 0.01, 0.02, 0.5];
beforeEach(async () => {
  root = folderOfTest("distance-");
  out = join(root, "out");
  mesh = join(root, "cube.ply");
  cloud = join(root, "points.csv");
  await writeMesh(cube(FAR), "ply", mesh, signal);
  // Over the middle of the top, so that the top is nearest, also from inside.
  const rows = HEIGHTS.flatMap((height) =>
    Array.from({ length: 20 }, (_, i) =>
      [FAR[0] + 0.4 + 0.01 * i, FAR[1] + 0.5, FAR[2] + 1 + height].map((value) => value.toFixed(4)).join(","),
    ),
  );
  writeFileSync(cloud, `x,y,z\n${rows.join("\n")}\n`);
});

/** Column of a table with a header. */
function columnOf(path: string, name: string): number[] {
  const [header = "", ...rows] = readFileSync(path, "utf8").trim().split("\n");
  const at = header
    .split(",")
    .map((word) => word.replaceAll('"', "").trim())
    .indexOf(name);
  return rows.map((row) => Number(row.split(",")[at]));
}

test("statistics, bands, tables, pictures and the cloud with its distances", async () => {
  const { code, stdout, stderr } = await command(root, [
    "distance",
    cloud,
    mesh,
    "--out",
    out,
    "--signed",
    "--bands",
    "0.01,0.1",
  ]);
  expect([code, stderr.split("\n")]).toEqual([
    0,
    [
      "Reading cube.ply",
      "Reading points.csv",
      "Measuring distances",
      "Drawing pictures",
      "Writing the cloud",
      "Writing the report",
      "",
    ],
  ]);
  expect(readdirSync(out).sort()).toEqual([
    "front_distance.png",
    "histogram.csv",
    "histogram.png",
    "points_distances.csv",
    "report.html",
    "side_distance.png",
    "statistics.csv",
    "summary.json",
    "top_distance.png",
  ]);
  const { distances, cloud: measured, mesh: surface } = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(measured).toMatchObject({ path: cloud, points: 100 });
  expect(surface).toMatchObject({ path: mesh, triangles: 12 });
  const sizes = HEIGHTS.map(Math.abs);
  expect(distances.mean_distance).toBeCloseTo(sizes.reduce((sum, d) => sum + d, 0) / 5, 6);
  expect(distances).toMatchObject({ point_count: 100, sign_defined: true, column: "mesh_distance" });
  expect(distances.bands).toEqual([
    { limit_m: 0.01, percent: 40 },
    { limit_m: 0.1, percent: 60 },
  ]);
  expect(stdout).toMatch(/^Up to 0\.1 m +60\.00 %$/m);
  expect(readFileSync(join(out, "statistics.csv"), "utf8")).toContain("within_0.1_m,percent,60\n");
  expect(columnOf(join(out, "histogram.csv"), "points").reduce((sum, n) => sum + n, 0)).toBe(100);
  // Every point has its own distance, negative inside.
  const column = columnOf(join(out, "points_distances.csv"), "mesh_distance");
  expect(column).toHaveLength(100);
  for (const [i, value] of column.entries())
    expect(Math.abs(value - (HEIGHTS[Math.floor(i / 20)] ?? 0))).toBeLessThan(1e-5);
});

test("the picture shows the distances: inside blue, outside red", async () => {
  expect((await command(root, ["distance", cloud, mesh, "--out", out, "--signed"])).code).toBe(0);
  const { width, height, data } = PNG.sync.read(readFileSync(join(out, "front_distance.png")));
  // Left of the bar of colours: the rows with blue points lie below those with red ones.
  const rows = (wanted: (r: number, g: number, b: number) => boolean) => {
    const found: number[] = [];
    for (let y = 0; y < height; y += 1)
      for (let x = 0; x < width * 0.6; x += 1) {
        const at = 4 * (y * width + x);
        if (wanted(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0)) found.push(y);
      }
    return found;
  };
  const blue = rows((r, _g, b) => b > r + 50);
  const red = rows((r, _g, b) => r > b + 80);
  expect([blue.length > 20, red.length > 20]).toEqual([true, true]);
  expect(Math.min(...blue)).toBeGreaterThan(Math.max(...red));
});

test("an open mesh has no sides, and the command says so; LAS carries the column", async () => {
  const { indices, ...rest } = cube(FAR);
  await writeMesh({ ...rest, indices: indices.slice(3) }, "obj", join(root, "open.obj"), signal);
  const { code, stdout } = await command(root, [
    "distance",
    cloud,
    join(root, "open.obj"),
    "--out",
    out,
    "--signed",
    "--format",
    "las",
  ]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Signed +not defined: the mesh is not closed$/m);
  expect(stdout).toMatch(/^Warning: Inside and outside are not defined.*not closed: 3 edges/m);
  const bytes = readFileSync(join(out, "points_distances.las"));
  expect(bytes.toString("latin1")).toContain("mesh_distance");
});

test("the mesh in another unit than the cloud is far away: the distances say so", async () => {
  const { code, stdout } = await command(root, ["distance", cloud, mesh, "--out", out, "--units", "ft", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).distances.min_distance).toBeGreaterThan(1e6);
});

describe("refusals leave nothing behind and exit 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["a mesh for a cloud", ["MESH", "MESH", "--out", "OUT"], /<cloud> must be a point cloud; "cube.ply" is a mesh/],
    [
      "a cloud for a mesh",
      ["CLOUD", "CLOUD", "--out", "OUT"],
      /<mesh> must be a mesh \(OBJ, STL, or PLY with faces\); "points.csv" is a point cloud/,
    ],
    ["a GLB file", ["CLOUD", "GLB", "--out", "OUT"], /<mesh> must be a mesh .*; glTF is written, not read: "mesh.glb"/],
    ["no bands", ["CLOUD", "MESH", "--out", "OUT", "--bands", "1,x"], /--bands "1,x" must be distances in metres/],
    ["negative bands", ["CLOUD", "MESH", "--out", "OUT", "--bands=-1"], /--bands "-1" must be distances/],
    [
      "a format without columns",
      ["CLOUD", "MESH", "--out", "OUT", "--format", "xyz"],
      /--format "xyz" is not one of las, laz, ply, pcd, txt, csv/,
    ],
    ["a report of an earlier run", ["CLOUD", "MESH", "--out", "OLD"], /holds report.html of an earlier run/],
    ["a cut mesh", ["CLOUD", "CUT", "--out", "OUT"], /no complete triangle/],
    ["a typo", ["CLOUD", "MESH", "--out", "OUT", "--sined"], /unknown option '--sined'\n\(Did you mean --signed\?\)/],
  ])("%s", async (_name, args, why) => {
    mkdirSync(join(root, "old"));
    writeFileSync(join(root, "old", "report.html"), "mine");
    await writeMesh(cube(), "stl", join(root, "cut.stl"), signal);
    truncateSync(join(root, "cut.stl"), 84 + 49);
    writeFileSync(join(root, "mesh.glb"), "glTF");
    const paths: Record<string, string> = {
      MESH: mesh,
      CLOUD: cloud,
      CUT: join(root, "cut.stl"),
      GLB: join(root, "mesh.glb"),
      OUT: out,
      OLD: join(root, "old"),
    };
    const { code, stdout, stderr } = await command(root, ["distance", ...args.map((word) => paths[word] ?? word)]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(existsSync(out)).toBe(false);
    expect(readdirSync(join(root, "old"))).toEqual(["report.html"]);
  });
});

test("a cut mesh with some triangles is measured, with a warning", async () => {
  const path = join(root, "cut.stl");
  await writeMesh(cube(), "stl", path, signal);
  truncateSync(path, 84 + 50 * 7 + 10);
  const { code, stdout } = await command(root, ["distance", cloud, path, "--out", out]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Warning: cut\.stl: the header declares 12 triangles, the file holds 7 complete ones/m);
});
