import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";

let root = "";
beforeEach(() => {
  root = folderOfTest("lad-ptx-");
});

/** Density of the medium that fills the cube from -1 to 1; leaves of G = 0.5. */
const DENSITY = 0.9;
const ROWS = 90;
const STEP = 0.0035;

/** Where a ray from `from` along `d` is in the cube. */
function chord(from: readonly number[], d: readonly number[]): [number, number] {
  const low = from.map((p, k) => (-Math.sign(d[k] ?? 1) - p) / (d[k] || 1e-12));
  const high = from.map((p, k) => (Math.sign(d[k] ?? 1) - p) / (d[k] || 1e-12));
  return [Math.max(...low), Math.min(...high)];
}

/** A PTX scan from (x, 0.1, 0.2) towards the middle; pulses that pass are empty cells. */
function ptx(x: number, seed: number): string {
  const from = [x, 0.1, 0.2];
  const cells: string[] = [];
  for (let column = 0; column < ROWS; column += 1)
    for (let row = 0; row < ROWS; row += 1) {
      const azimuth = (column - (ROWS - 1) / 2) * STEP;
      const elevation = (row - (ROWS - 1) / 2) * STEP;
      const towards = -Math.sign(x);
      const d = [
        towards * Math.cos(elevation) * Math.cos(azimuth),
        towards * Math.cos(elevation) * Math.sin(azimuth),
        Math.sin(elevation),
      ];
      const [entry, exit] = chord(from, d);
      const free = -Math.log(1 - ((((column * ROWS + row) * 1009 + seed) % 8101) + 0.5) / 8101) / (0.5 * DENSITY);
      const range = entry < exit && free < exit - entry ? entry + free : 0;
      const local = d.map((value) => (value * range).toFixed(6));
      cells.push(range > 0 ? `${local.join(" ")} 0.5` : "0 0 0 0.5");
    }
  const axes = ["1 0 0", "0 1 0", "0 0 1"];
  const matrix = [...axes.map((axis) => `${axis} 0`), `${from.join(" ")} 1`];
  return `${[ROWS, ROWS, from.join(" "), ...axes, ...matrix, ...cells].join("\n")}\n`;
}

/** Leaf area of the cube from PTX files. */
async function leafArea(out: string, ...files: string[]): Promise<{ area: number; warnings: string }> {
  const folder = join(root, out);
  const box = ["--voxel", "2", "--g", "0.5", "--box=-1,-1,-1,1,1,1", "--out", folder];
  const { code, stderr } = await command(root, ["lad", ...files, ...box]);
  expect([code, code === 0 ? "" : stderr]).toEqual([0, ""]);
  const { result, warnings } = JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"));
  return { area: result.total_leaf_area, warnings: warnings.join("\n") };
}

test("empty cells of PTX files are recovered as misses, of one scan and of several", async () => {
  const [west, east, both] = ["west.ptx", "east.ptx", "both.ptx"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(west, ptx(-8, 3));
  writeFileSync(east, ptx(8, 77));
  writeFileSync(both, ptx(-8, 3) + ptx(8, 77));
  const apart = await leafArea("apart", west, east);
  expect(Math.abs(apart.area / (8 * DENSITY) - 1)).toBeLessThan(0.05);
  expect(apart.warnings).toMatch(/west\.ptx: The misses were placed by the rows and columns of the scan/);
  expect(apart.warnings).not.toMatch(/without a direction/);
  const joined = await leafArea("joined", both);
  expect(joined.area).toBeCloseTo(apart.area, 9);
  expect(joined.warnings).toMatch(/both\.ptx, scan 1: The misses were placed/);
}, 60_000);
