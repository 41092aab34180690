import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";
import { leafyTree } from "../support/scans/leafy-tree.ts";

const { points, classes } = leafyTree();
const KEPT = process.env.APP_TEST_KEEP;

test("pictures, counts, the area of the wood and the labelled cloud", async () => {
  const root = folderOfTest("wood-");
  const [file, out] = [join(root, "tree.xyz"), join(root, "wood")];
  writeFileSync(file, `${points.map((p) => p.map((value) => value.toFixed(4)).join(" ")).join("\n")}\n`);
  const { code, stdout } = await command(root, ["wood", file, "--out", out, "--picture-size", "400", "--json"]);
  expect(code).toBe(0);
  expect(readdirSync(out).sort()).toEqual([
    "leaf.png",
    "summary.json",
    "tree_wood.laz",
    "wood.png",
    "wood_and_leaf.png",
  ]);
  const document = JSON.parse(stdout);
  expect(document).toEqual(JSON.parse(readFileSync(join(out, "summary.json"), "utf8")));
  expect(document).toMatchObject({ method: "sota", cloud: { points: points.length } });
  const wood = classes.filter((one) => one === 1).length;
  expect(Math.abs(document.num_wood - wood)).toBeLessThan(0.05 * wood);
  // The cylinder: 2 pi 0.15 m 4 m.
  expect(document.wood_area_m2).toBeGreaterThan(2.8);
  expect(document.wood_area_m2).toBeLessThan(4.8);
  expect(PNG.sync.read(readFileSync(join(out, "wood.png"))).width).toBeGreaterThan(100);
  if (KEPT) cpSync(out, KEPT, { recursive: true });
});

test("an unknown method is refused before any work", async () => {
  const root = folderOfTest("wood-");
  const file = join(root, "tree.xyz");
  writeFileSync(file, "0 0 0\n");
  const { code, stderr } = await command(root, ["wood", file, "--out", join(root, "wood"), "--method", "magic"]);
  expect([code, stderr]).toEqual([2, '--method "magic" is none of sota, connectivity, geometric, ml\n']);
  expect(existsSync(join(root, "wood"))).toBe(false);
  const other = await command(root, ["wood", file, "--out", join(root, "wood"), "--model", "wood_leaf_paths"]);
  expect([other.code, other.stderr]).toEqual([2, "--model needs --method ml\n"]);
});

test("method ml labels with the bundled network and names it", async () => {
  const root = folderOfTest("wood-");
  const [file, out] = [join(root, "tree.xyz"), join(root, "wood")];
  writeFileSync(file, `${points.map((p) => p.map((value) => value.toFixed(4)).join(" ")).join("\n")}\n`);
  const args = ["wood", file, "--out", out, "--method", "ml", "--picture-size", "200", "--json"];
  const { code, stdout } = await command(root, args);
  expect(code).toBe(0);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({ method: "ml", model_id: "wood_leaf_paths" });
  expect(document.num_wood + document.num_leaf).toBe(points.length);
  expect(document.warnings.join()).toContain("Remove the ground");
});
