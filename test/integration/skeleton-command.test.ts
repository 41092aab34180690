import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { poleTree } from "../support/scans/pole-tree.ts";

const FAR = [476_000, 5_429_000, 100] as const;

let root = "";
let out = "";
let cloud = "";
beforeEach(() => {
  root = folderOfTest("skeleton-");
  out = join(root, "out");
  cloud = join(root, "tree.csv");
  const rows = poleTree().map((point) => point.map((value, axis) => (value + (FAR[axis] ?? 0)).toFixed(4)).join(","));
  writeFileSync(cloud, `x,y,z\n${rows.join("\n")}\n`);
});

test("tables, lines, pictures and a summary in true world coordinates", async () => {
  const { code, stdout, stderr } = await command(root, ["skeleton", cloud, "--out", out, "--json", "--levels", "100"]);
  expect([code, stderr.includes("Finding the skeleton")]).toEqual([0, true]);
  const summary = JSON.parse(stdout);
  expect(summary.skeleton).toMatchObject({ success: true, num_branches: 1, max_branch_order: 2 });
  expect(summary.parameters.quantization_levels).toBe(100);
  expect(JSON.parse(readFileSync(join(out, "summary.json"), "utf8"))).toEqual(summary);
  const [header, ...rows] = readFileSync(join(out, "skeleton.csv"), "utf8").trim().split("\n");
  expect(header).toBe("node,x,y,z,parent,length,branch_order");
  const nodes = rows.map((row) => row.split(",").map(Number));
  expect(nodes).toHaveLength(summary.skeleton.num_nodes);
  expect(nodes.filter(([, , , , parent]) => parent === -1)).toHaveLength(1);
  const length = nodes.reduce((sum, node) => sum + (node[5] ?? 0), 0);
  expect(Math.abs(length - summary.skeleton.total_length)).toBeLessThan(1e-3 * nodes.length);
  for (const [, x = 0, y = 0, z = 0] of nodes) {
    expect(Math.abs(x - FAR[0])).toBeLessThan(1);
    expect(Math.abs(y - FAR[1])).toBeLessThan(0.05);
    expect(z - FAR[2]).toBeGreaterThan(-0.05);
  }
  const obj = readFileSync(join(out, "skeleton.obj"), "utf8").trim().split("\n");
  expect(obj.filter((line) => line.startsWith("v "))).toHaveLength(nodes.length);
  expect(obj.filter((line) => line.startsWith("l "))).toHaveLength(nodes.length - 1);
  const ply = readFileSync(join(out, "skeleton.ply"), "utf8");
  expect(ply).toContain(`element vertex ${nodes.length}\n`);
  expect(ply.trim().split("end_header\n")[1]?.split("\n")).toHaveLength(2 * nodes.length - 1);
  for (const path of summary.outputs.pictures) {
    const { data } = PNG.sync.read(readFileSync(path));
    let green = 0; // lines of order 1
    for (let i = 0; i < data.length; i += 4) if (data[i] === 0x2c && data[i + 1] === 0xa0) green += 1;
    expect(green).toBeGreaterThan(100);
  }
});

test("options and points that cannot be used are refused, and nothing is written", async () => {
  const refused = async (...args: string[]) => {
    const { code, stderr } = await command(root, ["skeleton", cloud, "--out", out, ...args]);
    expect([code, existsSync(join(out, "summary.json"))]).toEqual([2, false]);
    return stderr;
  };
  expect(await refused("--least-share", "2")).toContain('--least-share "2" must be a number from 0 to 1');
  expect(await refused("--search-radius", "0")).toContain('--search-radius "0" must be a positive number of metres');
  expect(await refused("--levels", "1")).toContain("--levels");
  expect(await refused("--search-radius", "0.002")).toContain("try a larger --search-radius");
});
