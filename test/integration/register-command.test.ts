import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, describe, expect, test } from "vitest";
import { movedMesh } from "../../backend/cli/meshes/mesh.ts";
import { writeMesh } from "../../backend/cli/meshes/write.ts";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { cornerPoints, cube, joined, motion, placed, TRUTH, writeCorner } from "../support/cli/surfaces.ts";
import { folderOfTest } from "../support/run/folders.ts";

const FAR = [476_000, 5_429_000, 100] as const;
const signal = new AbortController().signal;

let root = "";
let out = "";
beforeEach(() => {
  root = folderOfTest("register-");
  out = join(root, "out");
});

const writeCloud = (name: string, seed: number, back: boolean, count?: number) =>
  writeCorner(join(root, name), seed, back, count);

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
  expect(stdout).toMatch(/^Verdict +Nothing speaks against the pose: .*\.$/m);
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

test("a cloud that is turned far away is found by default and with --initial auto, not with --initial centroid", async () => {
  const away = motion(2.2, 0.7, [3, -2, 5]);
  const moving = join(root, "b.xyz");
  const rows = cornerPoints(1).map((point) =>
    placed(away, point)
      .map((value) => value.toFixed(6))
      .join(" "),
  );
  writeFileSync(moving, `${rows.join("\n")}\n`);
  const fixed = writeCloud("a.xyz", 100_000, false);
  const farthest = (folder: string) =>
    Math.max(...cornerPoints(1, 50).map((point) => largestOff(placed(matrixOf(folder), placed(away, point)), point)));
  const auto = await command(root, ["register", moving, fixed, "--initial", "auto", "--out", out]);
  expect(auto.code).toBe(0);
  expect(auto.stdout).toMatch(
    /^Method +gicp, started from the motion that the search among all turns and shifts found$/m,
  );
  expect(farthest(out)).toBeLessThan(0.02);
  const byDefault = join(root, "default");
  const found = await command(root, ["register", moving, fixed, "--out", byDefault]);
  expect(farthest(byDefault)).toBeLessThan(0.02);
  expect(found.stdout).toMatch(/^Warning: The iterations began .* --initial auto searches at once/m);
  expect(found.stdout).toMatch(/^Search among all poses +(finds this pose|not needed)/m);
  const near = join(root, "near");
  const centroid = await command(root, ["register", moving, fixed, "--initial", "centroid", "--out", near]);
  expect(farthest(near)).toBeGreaterThan(0.5);
  expect(centroid.stdout).toMatch(/^Verdict +The pose is probably wrong/m);
  expect(centroid.stdout).toMatch(
    /^Warning: The pose is probably wrong: .* Register with --initial auto to begin there\.$/m,
  );
});

test("files that do not overlap: the verdict and a warning say so, in the words of the command line", async () => {
  const moving = writeCloud("b.xyz", 1, false, 500);
  const fixed = join(root, "a.xyz");
  // A line has no surface, and half of it lies elsewhere.
  writeFileSync(fixed, Array.from({ length: 500 }, (_, i) => `${i} 0 0`).join("\n"));
  const { code, stdout } = await command(root, ["register", moving, fixed, "--out", out, "--max-distance", "1e-6"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Verdict +The files do not overlap: this is no pose\.$/m);
  expect(stdout).toMatch(
    /^Warning: No moving point lies within .* of the fixed file: .* larger --max-distance\. The fixed file is 92\.9 times as large as the moving file/m,
  );
});
