// Clouds whose z axis does not point upwards, turned by --up.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { PLOT_TREES, places } from "../support/cli/inventory-folder.ts";
import { runReal } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { forestRows } from "../support/scans/forest.ts";
import { poleTree } from "../support/scans/pole-tree.ts";

type Xyz = readonly [number, number, number];
/** How files place a point: y upwards, z towards the viewer; x downwards. */
const Y_UP = ([x, y, z]: Xyz): Xyz => [x, z, -y];
const X_DOWN = ([x, y, z]: Xyz): Xyz => [-z, y, x];

let root = "";
beforeEach(() => {
  root = folderOfTest("up-");
});

function file(name: string, points: readonly Xyz[], head?: readonly string[]): string {
  const path = join(root, name);
  writeFileSync(
    path,
    `${[...(head ? [head] : [["x", "y", "z"]]), ...points].map((row) => row.join(",")).join("\n")}\n`,
  );
  return path;
}

async function run(command: string, cloud: string, ...more: string[]) {
  const out = join(root, "out");
  const { code, stdout, stderr } = await runReal(root, [command, cloud, "--out", out, "--force", "--json", ...more]);
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  return { document: JSON.parse(stdout), out };
}

test("a plot with y upwards has the trees of the same plot with z upwards", async () => {
  const [, ...rows] = places(forestRows(PLOT_TREES));
  const points = rows.map((row) => row.map(Number) as unknown as Xyz);
  const { document, out } = await run(
    "inventory",
    file("y-up.csv", points.map(Y_UP)),
    "--method",
    "default",
    "--up",
    "y",
  );
  const [head = "", ...trees] = readFileSync(join(out, "trees.csv"), "utf8").trim().split("\n");
  const column = (name: string) => trees.map((row) => Number(row.split(",")[head.split(",").indexOf(name)]));
  expect(document.parameters.up).toBe("y");
  for (const { x, y, dbh_m } of PLOT_TREES) {
    const i = column("stem_x").findIndex((at, k) => Math.hypot(at - x, (column("stem_y")[k] ?? 0) - y) < 0.1);
    expect(column("dbh_m")[i]).toBeCloseTo(dbh_m, 2);
  }
});

test("a tree that hangs along x: its model, and the report of analyze", async () => {
  const points = poleTree().map((point) => point as unknown as Xyz);
  const upright = await run("qsm", file("z-up.csv", points));
  const cloud = file("x-down.csv", points.map(X_DOWN));
  const turned = await run("qsm", cloud, "--up", "-x");
  const { total_woody_volume_m3: volume, tree_height_m: height } = upright.document.model.metrics;
  expect(turned.document.model.metrics.tree_height_m).toBeCloseTo(height, 2);
  expect(turned.document.model.metrics.total_woody_volume_m3 / volume).toBeCloseTo(1, 1);
  const report = await run("analyze", cloud, "--up", "-x");
  const right = await run("analyze", file("z-up.csv", points));
  expect(report.document.parameters.up).toBe("-x");
  const extent = right.document.extent_m.map((length: number) => expect.closeTo(length, 3));
  expect(report.document.extent_m).toEqual(extent);
  expect(report.document.scene.kind).toBe(right.document.scene.kind);
});
