import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NodeIO } from "@gltf-transform/core";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { swayingTree } from "../support/qsm/swaying-tree.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { poleTree } from "../support/scans/pole-tree.ts";

const FAR = [476_000, 5_429_000, 100] as const;

let root = "";
let out = "";
let cloud = "";
beforeEach(() => {
  root = folderOfTest("qsm-");
  out = join(root, "out");
  cloud = join(root, "tree.csv");
  const rows = poleTree().map((point) => point.map((value, axis) => (value + (FAR[axis] ?? 0)).toFixed(4)).join(","));
  writeFileSync(cloud, `x,y,z\n${rows.join("\n")}\n`);
});

/** Positions of a GLB in the true world: relative ones plus the shift that the node keeps. */
async function worldOf(file: string) {
  const document = await new NodeIO().readBinary(readFileSync(file));
  const [node] = document.getRoot().listNodes();
  const shift = node?.getExtras().world_shift as number[];
  const surface = node?.getMesh()?.listPrimitives()[0];
  const local = surface?.getAttribute("POSITION")?.getArray() ?? [];
  const images = document.getRoot().listTextures().length;
  return { positions: Array.from(local as ArrayLike<number>, (value, i) => value + (shift[i % 3] ?? 0)), images };
}

test("model, leaves on it, tables, meshes and pictures, far from the origin", async () => {
  const leaves = ["--leaves", "GrapeLeaf", "--leaf-size", "0.06", "--leaf-spacing", "0.1"];
  const { code, stdout, stderr } = await command(root, ["qsm", cloud, "--out", out, "--json", ...leaves]);
  expect([code, stderr.includes("Placing leaves")]).toEqual([0, true]);
  const summary = JSON.parse(stdout);
  expect(JSON.parse(readFileSync(join(out, "summary.json"), "utf8"))).toEqual(summary);
  const { metrics } = summary.model;
  expect(Math.abs(metrics.total_woody_volume_m3 / (Math.PI * (0.01 * 2 + 0.0025 * 2 * 1.03)) - 1)).toBeLessThan(0.25);
  const cylinders = readFileSync(join(out, "cylinders.csv"), "utf8").trim().split("\n");
  expect(cylinders).toHaveLength(summary.model.n_cylinders + 1);
  const classes = summary.diameter_classes.reduce((sum: number, one: { volume_m3: number }) => sum + one.volume_m3, 0);
  expect(classes).toBeCloseTo(metrics.total_woody_volume_m3, 9);
  expect(summary.parameters.leaves).toEqual({ texture: "GrapeLeaf.png", leaf_size_m: 0.06, leaf_spacing: 0.1 });
  expect(summary.leaves.leaf_count).toBeGreaterThan(5);
  const rectangles = summary.leaves.leaf_count * 0.06 ** 2;
  expect(summary.leaves.leaf_area_m2).toBeGreaterThan(0.2 * rectangles);
  expect(summary.leaves.leaf_area_m2).toBeLessThan(rectangles);
  const placed = await worldOf(join(out, "leaves.glb"));
  expect([placed.positions.length, placed.images]).toEqual([18 * summary.leaves.leaf_count, 1]);
  for (const file of ["leaves.glb", "wood.glb"]) {
    const { positions } = await worldOf(join(out, file));
    const off = positions.map((value, i) => Math.abs(value - (FAR[i % 3] ?? 0)));
    expect(Math.max(...off)).toBeLessThan(3.2);
  }
  expect(summary.outputs.pictures.map((path: string) => existsSync(path))).toEqual([true, true, true, true, true]);
});

test("scans that wind has at different places are moved onto each other, unless --no-align says not to", async () => {
  writeFileSync(cloud, `${swayingTree(0.08).join("\n").replaceAll(" ", ",")}\n`);
  const summaryOf = async (...more: string[]) => {
    const { code, stdout } = await command(root, ["qsm", cloud, "--out", out, "--json", "--force", ...more]);
    expect(code).toBe(0);
    return JSON.parse(stdout);
  };
  const aligned = await summaryOf();
  expect(aligned.parameters.align).toBe(true);
  expect(aligned.model.view_fit).toMatchObject({ n_views: 4, sways: true, aligned: true });
  expect(aligned.warnings.join(" ")).toMatch(/^The tree stands at different places .*; --no-align leaves them\./);
  const left = await summaryOf("--no-align");
  expect(left.parameters.align).toBe(false);
  expect(left.model.view_fit).toMatchObject({ sways: true, aligned: false });
  expect(left.warnings.join(" ")).toMatch(/no intervals; leave --no-align out\./);
});

test("options that cannot be used are refused, and nothing is written", async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await command(root, ["qsm", cloud, "--out", out, ...args]);
    expect([code, existsSync(join(out, "summary.json"))]).toEqual([2, false]);
    return stderr;
  };
  expect(await refused("--species-twig", "0")).toContain('--species-twig "0" must be a radius in mm');
  expect(await refused("--radius-model", "x")).toContain('--radius-model "x" is not one of');
  expect(await refused("--leaves", "Oak.png")).toContain('--leaves "Oak.png" is not one of AlmondLeaf.png');
  expect(await refused("--leaf-size", "0.1")).toContain("--leaf-size belongs to --leaves");
  expect(await refused("--leaves", "--leaf-spacing", "0")).toContain('--leaf-spacing "0" must be a positive number');
});
