import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { movedMesh } from "../../backend/cli/meshes/mesh.ts";
import { writeMesh } from "../../backend/cli/meshes/write.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { cornerPoints, cube, joined, motion, placed } from "../support/cli/surfaces.ts";
import { folderOfTest } from "../support/run/folders.ts";

/** From the moving to the fixed file. */
const TRUTH = motion(0.05, -0.03, [0.08, -0.05, 0.04]);
const FAR = [476_000, 5_429_000, 100] as const;
const signal = new AbortController().signal;

let root = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("register-");
  out = join(root, "out");
});

/** The scene as text, in the frame of the fixed file or, with `back`, where the motion has yet to bring it from. */
function writeCloud(name: string, seed: number, back: boolean, count?: number): string {
  const inverse = motionBack(TRUTH);
  const rows = cornerPoints(seed, count).map((point) => {
    const place = back ? placed(inverse, point) : point;
    return place.map((value) => value.toFixed(6)).join(" ");
  });
  const path = join(root, name);
  writeFileSync(path, `${rows.join("\n")}\n`);
  return path;
}

const motionBack = (m: readonly number[]) => {
  const at = (i: number) => m[i] ?? 0;
  const t = [at(3), at(7), at(11)];
  const turned = [0, 1, 2].map((i) => -t.reduce((sum, value, k) => sum + at(4 * k + i) * value, 0));
  return [0, 1, 2].flatMap((i) => [at(i), at(4 + i), at(8 + i), turned[i] ?? 0]).concat([0, 0, 0, 1]);
};

const matrixOf = (folder: string) =>
  readFileSync(join(folder, "transform.txt"), "utf8").trim().split(/\s+/).map(Number);
const largestOff = (a: readonly number[], b: readonly number[]) =>
  Math.max(...a.map((value, i) => Math.abs(value - (b[i] ?? 0))));

test("a cloud onto a cloud: motion, moved file, pictures, report and summary", async () => {
  const [moving, fixed] = [writeCloud("b.xyz", 1, true), writeCloud("a <1>.xyz", 100_000, false)];
  const { code, stdout, stderr } = await command(root, ["register", moving, fixed, "--out", out]);
  expect([code, stderr.split("\n")]).toEqual([
    0,
    [
      "Reading b.xyz",
      "Reading a <1>.xyz",
      "Registering",
      "Fetching points",
      "Drawing pictures",
      "Writing the moved file",
      "Writing the report",
      "",
    ],
  ]);
  expect(readdirSync(out).sort()).toEqual([
    "b_registered.xyz",
    "convergence.png",
    "front_after.png",
    "front_before.png",
    "report.html",
    "summary.json",
    "top_after.png",
    "top_before.png",
    "transform.json",
    "transform.txt",
  ]);
  // The surfaces are sampled at 6000 points of their own: the motion is found to a tenth of their spacing.
  expect(largestOff(matrixOf(out), TRUTH)).toBeLessThan(3e-3);
  expect(stdout).toMatch(/^Verdict +The files fit, and the pose is held in every direction\.$/m);
  const summary = JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));
  expect(summary.transform.matrix.flat()).toEqual(matrixOf(out));
  expect(JSON.parse(readFileSync(join(out, "transform.json"), "utf8")).matrix).toEqual(summary.transform.matrix);
  expect(summary.registration).toMatchObject({ method: "gicp", converged: true, success: true });
  expect(summary.moving).toMatchObject({ path: moving, kind: "cloud", points: 6000 });
  for (const path of [...summary.outputs.pictures, summary.outputs.report, summary.outputs.moved])
    expect(existsSync(path)).toBe(true);
  const rows = readFileSync(join(out, "b_registered.xyz"), "utf8").trim().split("\n");
  const [first = []] = cornerPoints(1);
  const [got = []] = rows.map((row) => row.split(/\s+/).map(Number));
  expect(largestOff(got.slice(0, 3), first)).toBeLessThan(0.01);
  const html = readFileSync(join(out, "report.html"), "utf8");
  expect(html).toContain("b.xyz onto a &lt;1&gt;.xyz");
  expect(html.match(/src="data:image\/png/g)).toHaveLength(5);
  // Both colours are in both pictures.
  for (const name of ["top_before.png", "top_after.png"]) {
    const { data } = PNG.sync.read(readFileSync(join(out, name)));
    let [blue, orange] = [0, 0];
    for (let i = 0; i < data.length; i += 4) {
      if ((data[i + 2] ?? 0) > (data[i] ?? 0) + 60) blue += 1;
      if ((data[i] ?? 0) > (data[i + 2] ?? 0) + 60) orange += 1;
    }
    expect([name, blue > 500, orange > 500]).toEqual([name, true, true]);
  }
});

describe("meshes", () => {
  /** Two cubes that hold every motion, far from the origin. */
  const house = joined(cube(FAR), cube(FAR, [2, 0.5, 0.25]));

  test("a mesh onto a mesh, far from the origin: millimetres stay", async () => {
    const [moving, fixed] = [join(root, "b.ply"), join(root, "a.ply")];
    // About the house: a turn about the origin would carry it away.
    const local = { ...house, origin: [0, 0, 0] as const };
    const there = movedMesh(motion(0.02, 0.01, [0.05, 0.02, -0.03]), local);
    const placedThere = {
      ...there,
      origin: [FAR[0] + there.origin[0], FAR[1] + there.origin[1], FAR[2] + there.origin[2]] as const,
    };
    await writeMesh(placedThere, "ply", moving, signal);
    await writeMesh(house, "ply", fixed, signal);
    const { code, stdout } = await command(root, [
      "register",
      moving,
      fixed,
      "--out",
      out,
      "--json",
      "--format",
      "obj",
    ]);
    expect(code).toBe(0);
    const { moved, transform, outputs } = JSON.parse(stdout);
    expect(moved).toEqual({ format: "obj", file_shift: null });
    const vertices = readFileSync(outputs.moved, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("v "))
      .map((line) => line.split(" ").slice(1).map(Number));
    const truth = Array.from({ length: 16 }, (_, i) =>
      [0, 1, 2].map((k) => (house.vertices[3 * i + k] ?? 0) + (FAR[k] ?? 0)),
    );
    expect(Math.max(...truth.map((place, i) => largestOff(vertices[i] ?? [], place)))).toBeLessThan(1e-3);
    // The matrix in true world coordinates does the same.
    const first = [0, 1, 2].map((k) => (placedThere.vertices[k] ?? 0) + (placedThere.origin[k] ?? 0));
    expect(largestOff(placed(transform.matrix.flat(), first), truth[0] ?? [])).toBeLessThan(1e-3);
  });

  test("a cloud onto a mesh: the mesh is registered, and the motion turned round", async () => {
    const mesh = join(root, "wall.stl");
    // Two triangles each: floor, two walls, and the step.
    const square = (...c: number[]) => [c.slice(0, 9), [...c.slice(0, 3), ...c.slice(6, 12)]].flat(2);
    const corners = [
      square(0, 0, 0, 4, 0, 0, 4, 3, 0, 0, 3, 0),
      square(0, 0, 0, 4, 0, 0, 4, 0, 2, 0, 0, 2),
      square(0, 0, 0, 0, 3, 0, 0, 3, 2, 0, 0, 2),
      square(1, 1, 0.5, 2, 1, 0.7, 2, 2, 0.7, 1, 2, 0.5),
    ].flat();
    const surface = {
      ...cube(),
      vertices: Float32Array.from(corners),
      indices: Uint32Array.from({ length: 24 }, (_, i) => i),
    };
    await writeMesh(surface, "stl", mesh, signal);
    const moving = writeCloud("b.xyz", 1, true);
    const { code, stdout } = await command(root, [
      "register",
      moving,
      mesh,
      "--out",
      out,
      "--method",
      "plane",
      "--max-distance",
      "0.5",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Direction +the mesh was moved onto the cloud, and the motion turned round$/m);
    expect(stdout).toMatch(/^Method +point to plane/m);
    expect(largestOff(matrixOf(out), TRUTH)).toBeLessThan(3e-3);
    expect(readdirSync(out)).toContain("b_registered.xyz");
  });
});

test("files that do not overlap: the verdict and a warning say so, in the words of the command line", async () => {
  const moving = writeCloud("b.xyz", 1, false, 500);
  const fixed = join(root, "a.xyz");
  // A line has no surface, and half of it lies elsewhere.
  writeFileSync(fixed, Array.from({ length: 500 }, (_, i) => `${i} 0 0`).join("\n"));
  const { code, stdout } = await command(root, ["register", moving, fixed, "--out", out, "--max-distance", "1e-6"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Verdict +The files do not overlap: this is no pose\.$/m);
  expect(stdout).toMatch(/^Warning: No moving point lies within .* of the fixed file: .* larger --max-distance\.$/m);
});

describe("refusals leave nothing behind and exit 2", () => {
  test.each<[string, readonly string[], RegExp]>([
    ["no output", ["B", "A"], /required option '--out <folder>'/],
    ["one file", ["B", "--out", "OUT"], /missing required argument 'fixed'/],
    ["a typo", ["B", "A", "--out", "OUT", "--metod", "gicp"], /unknown option '--metod'\n\(Did you mean --method\?\)/],
    [
      "another method",
      ["B", "A", "--out", "OUT", "--method", "icp"],
      /--method "icp" is not one of gicp, plane, point/,
    ],
    [
      "no distance",
      ["B", "A", "--out", "OUT", "--max-distance", "0"],
      /--max-distance "0" must be a positive number of metres/,
    ],
    ["no count", ["B", "A", "--out", "OUT", "--iterations", "1.5"], /--iterations "1.5" must be a whole number/],
    [
      "a mesh format for a cloud",
      ["B", "A", "--out", "OUT", "--format", "stl"],
      /--format "stl" is no format of a point cloud/,
    ],
    ["no format", ["B", "A", "--out", "OUT", "--format", "doc"], /--format "doc" is not one of/],
    [
      "a file that is missing",
      ["B", "C", "--out", "OUT"],
      /does not exist; give the path of a point cloud or mesh file/,
    ],
    ["the same file twice", ["B", "B", "--out", "OUT"], /"b.xyz" is given twice/],
    ["a report of an earlier run", ["B", "A", "--out", "OLD"], /holds report.html of an earlier run; .*--force/],
    ["columns without text", ["P", "P", "--out", "OUT", "--columns", "x y z"], /no file is one/],
    ["a cut mesh", ["P", "A", "--out", "OUT"], /p\.ply/],
  ])("%s", async (_name, args, why) => {
    writeCloud("b.xyz", 1, true, 50);
    writeCloud("a.xyz", 7, false, 50);
    // Cut in its header.
    writeFileSync(join(root, "p.ply"), "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nelement face 1\n");
    mkdirSync(join(root, "old"));
    writeFileSync(join(root, "old", "report.html"), "mine");
    const paths: Record<string, string> = { A: "a.xyz", B: "b.xyz", C: "c.xyz", P: "p.ply", OUT: "out", OLD: "old" };
    const argv = args.map((word) => (paths[word] ? join(root, paths[word]) : word));
    const { code, stdout, stderr } = await command(root, ["register", ...argv]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(existsSync(join(root, "out"))).toBe(false);
    expect(readdirSync(join(root, "old"))).toEqual(["report.html"]);
  });
});

test("--help has an example, and a typo of the command is answered with its name", async () => {
  const help = await command(root, ["register", "--help"]);
  expect([help.code, help.stdout]).toEqual([
    0,
    expect.stringContaining("npm start -- register scan2.laz scan1.laz --out aligned"),
  ]);
  const typo = await command(root, ["registre", "a", "b"]);
  expect([typo.code, typo.stderr]).toEqual([2, expect.stringContaining('did you mean "register"?')]);
});

test.each(["Registering", "Drawing pictures", "Writing the report"])(
  "canceled while %s: exit 130, and no output",
  async (stage) => {
    const [moving, fixed] = [writeCloud("b.xyz", 1, true, 2000), writeCloud("a.xyz", 9, false, 2000)];
    const { code, stderr } = await command(root, ["register", moving, fixed, "--out", out], (text, cancel) => {
      if (text.endsWith(`${stage}\n`)) cancel();
    });
    expect([code, stderr]).toEqual([130, expect.stringMatching(/Canceled; nothing was written\.\n$/)]);
    expect(existsSync(out)).toBe(false);
  },
);
