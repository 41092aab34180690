import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { runReal as command } from "../support/cli/real-command-line.ts";
import { folderOfTest } from "../support/run/folders.ts";

/** One-sided leaf area of a cube of leaves from -2 to 2 and 1 to 3 m above the middle, m2/m3; G = 0.5. */
const DENSITY = 0.8;
const [HALF, LOW, HIGH] = [2, 1, 3];
const TRUE_AREA = DENSITY * (2 * HALF) ** 2 * (HIGH - LOW);
/** Ground that rises by a tenth along x. */
const ground = (x: number) => 0.1 * x;

/** Where a ray from a place goes into and out of the leaves, metres along its direction; null = beside them. */
function through(from: readonly number[], unit: readonly number[]): readonly [number, number] | null {
  const low = [-HALF, -HALF, LOW];
  const high = [HALF, HALF, HIGH];
  let [enter, leave] = [0, Number.POSITIVE_INFINITY];
  for (let a = 0; a < 3; a += 1) {
    const [one, other] = [low, high].map((bound) => ((bound[a] ?? 0) - (from[a] ?? 0)) / (unit[a] ?? 1));
    enter = Math.max(enter, Math.min(one ?? 0, other ?? 0));
    leave = Math.min(leave, Math.max(one ?? 0, other ?? 0));
  }
  return enter < leave ? [enter, leave] : null;
}

/** A scanner 1.5 m above the ground that sees leaves, ground and sky. */
function scanFile(path: string, x: number): void {
  const from = [x, 0.3, ground(x) + 1.5] as const;
  const rows = ["x,y,z,is_miss"];
  for (let k = 0; k < 90; k += 1)
    for (let i = 0; i < 360; i += 1) {
      const [zenith, azimuth] = [((20 + 1.4 * k) * Math.PI) / 180, ((i + 0.137 * k) * Math.PI) / 180];
      const level = Math.sin(zenith);
      const unit = [level * Math.cos(azimuth), level * Math.sin(azimuth), Math.cos(zenith)] as const;
      const slope = unit[2] - 0.1 * unit[0];
      const floor = slope < 0 ? -1.5 / slope : Number.POSITIVE_INFINITY;
      const leaves = through(from, unit);
      const chance = ((((i + 1) * 7919 + (k + 1) * 104_729) % 10_007) + 0.5) / 10_007;
      const leaf = leaves ? leaves[0] - Math.log(chance) / (0.5 * DENSITY) : Number.POSITIVE_INFINITY;
      const hit = leaves && leaf < leaves[1] && leaf < floor ? leaf : floor;
      const miss = !(hit < 12);
      const range = miss ? 500 : hit;
      rows.push([...from.map((origin, a) => (origin + range * (unit[a] ?? 0)).toFixed(5)), miss ? 1 : 0].join(","));
    }
  writeFileSync(path, `${rows.join("\n")}\n`);
}

let root = "";
let out = "";
let files: string[] = [];
const PLACES = [-5, 5];
beforeEach(() => {
  root = folderOfTest("lad-ground-");
  out = join(root, "out");
  files = PLACES.map((x) => join(root, `from${x}.csv`));
  for (const [k, x] of PLACES.entries()) scanFile(files[k] ?? "", x);
});
const origins = PLACES.flatMap((x) => [`--origin=${x},0.3,${ground(x) + 1.5}`]);
const args = (...more: string[]) => [
  ...["lad", ...files, "--voxel", "0.5", "--out", out, "--g", "0.5", "--occlusion", "5", ...origins],
  ...["--box=-3,-3,-0.5,3,3,4", ...more],
];
const summary = () => JSON.parse(readFileSync(join(out, "summary.json"), "utf8"));

test("columns are raised onto the ground that the voxels hold", async () => {
  const { code, stdout, stderr } = await command(root, args());
  expect([code, stderr.split("\n").slice(2, 5)]).toEqual([
    0,
    ["Inverting Beer's law", "Looking for the ground", "Inverting Beer's law above the ground"],
  ]);
  const { result, warnings, profile, outputs } = summary();
  expect(Math.abs(result.total_leaf_area / TRUE_AREA - 1)).toBeLessThan(0.05);
  expect(result).toMatchObject({ terrain_follow: true, nx: 12, ny: 12 });
  expect(warnings.join("\n")).not.toMatch(/as at the ground/);
  // The lowest half metre holds no leaf: the ground is below it.
  expect(profile[0].leaf_area_m2).toBeLessThan(0.02 * TRUE_AREA);
  expect(outputs.voxel_space).toBeNull();
  expect(existsSync(join(out, "voxels.vox"))).toBe(false);
  expect(readFileSync(join(out, "profile.csv"), "utf8")).toMatch(/^level,mean_height_above_ground_m,/);
  const [head = "", first = ""] = readFileSync(join(out, "voxels.csv"), "utf8").split("\n");
  expect(head).toMatch(/,height_above_ground_m$/);
  expect(first).toMatch(/,0\.25$/);
  expect(stdout).toMatch(/voxels of 0\.5 m, raised onto the ground/);
  expect(readFileSync(join(out, "report.html"), "utf8")).toMatch(/each column begins above the ground/);
});

test("with --level they are not: hits on the ground count as leaves, which is told", async () => {
  expect((await command(root, args("--level"))).code).toBe(0);
  const { result, warnings } = summary();
  expect(result.total_leaf_area).toBeGreaterThan(1.3 * TRUE_AREA);
  expect(result.terrain_follow).toBe(false);
  expect(warnings.join("\n")).toMatch(/as at the ground: .* leave out --level, or let --box begin above the ground/);
  expect(existsSync(join(out, "voxels.vox"))).toBe(true);
});

test("a box above the ground stays level", async () => {
  const above = args().map((arg) => (arg.startsWith("--box") ? "--box=-3,-3,0.5,3,3,4" : arg));
  const { code, stderr } = await command(root, above);
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/Looking for the ground/);
  expect(Math.abs(summary().result.total_leaf_area / TRUE_AREA - 1)).toBeLessThan(0.05);
});
