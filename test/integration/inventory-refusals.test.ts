import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { inventoryFolder, PLOT_TREES, places } from "../support/cli/inventory-folder.ts";
import { forestRows } from "../support/scans/forest.ts";

const { out, write, inventory } = inventoryFolder("inventory-refused-");

test("broad crowns are one tree each where their width is given", async () => {
  const rows: (string | number)[][] = [["x", "y", "z"]];
  for (let i = 0; i < 150 * 100; i += 1) {
    const [x, y] = [0.2 * (i % 150), 0.2 * Math.floor(i / 150)];
    const from = Math.hypot((x % 10) - 5, (y % 10) - 5) / 4;
    rows.push([x, y, from < 1 ? 10 - 0.8 * from * from + 0.25 * Math.cos(3 * x) * Math.cos(3 * y) : 0]);
  }
  write(rows);
  const { stdout } = await inventory("--method", "chm", "--json");
  const split = JSON.parse(stdout);
  expect(split.tree_count).toBeGreaterThan(18);
  expect(split.warnings.join(" ")).toMatch(/without them there are 6\. .* give their width as --crown-width\./);
  await inventory("--method", "chm", "--crown-width", "16", "--force");
  expect(JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"))).toMatchObject({
    tree_count: 6,
    parameters: { crown_width: 16 },
  });
});

test("the ground that the file labels itself is taken where it is asked for", async () => {
  const [head = [], ...rows] = places(forestRows(PLOT_TREES));
  // Of the ground every second point is labelled.
  write([[...head, "las_classification"], ...rows.map((row, i) => [...row, row[2] !== "0" ? 5 : i % 2 === 0 ? 2 : 1])]);
  await inventory("--ground", "las_classification", "--json");
  const ground = rows.filter((row, i) => row[2] === "0" && i % 2 === 0).length;
  const summary = () => JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"));
  expect(summary()).toMatchObject({ tree_count: 3, parameters: { ground: "las_classification" } });
  const { stdout } = await inventory("--json", "--force");
  expect(JSON.parse(stdout)).toMatchObject({ tree_count: 3, parameters: { ground: null } });
  expect(ground).toBeGreaterThan(400);
});

test("a plot without trees: the reason, and nothing is written", async () => {
  const rows: (string | number)[][] = [["x", "y", "z"]];
  for (let x = 0; x <= 66; x += 1.5) for (let y = 0; y <= 66; y += 1.5) rows.push([x, y, 0]);
  for (let i = 0; i < 300; i += 1)
    rows.push([30 + 4 * ((i * 0.7548776662) % 1), 30 + 4 * ((i * 0.6180339887) % 1), 1.2]);
  write(rows);
  const { code, stderr } = await inventory("--method", "chm");
  expect([code, stderr]).toEqual([2, expect.stringContaining("method chm found no tree in this cloud")]);
  expect(existsSync(out())).toBe(false);
});

test.each<[string, string[], RegExp]>([
  ["an unknown method", ["--method", "magic"], /--method "magic" is none of/],
  ["crowns without a width", ["--crown-width", "0"], /--crown-width "0" must be a positive number of metres/],
  [
    "a width of crowns for stems",
    ["--method", "auto", "--crown-width", "4"],
    /--crown-width belongs to --method chm, not/,
  ],
  ["a width of crowns for one tree", ["--scene", "tree", "--crown-width", "4"], /leave --crown-width out/],
  [
    "a width of crowns where stems are seen",
    ["--scene", "plot", "--crown-width", "4"],
    /so method auto divides it by stems/,
  ],
  ["ground that needs parameters", ["--ground", "cloth"], /--ground "cloth" is none of auto, las_classification/],
  ["ground for one tree", ["--scene", "tree", "--ground", "auto"], /looks for no ground: leave --ground out/],
  [
    "the ground of a file that labels none",
    ["--ground", "las_classification"],
    /--ground las_classification takes the ground that a file labels, .* no classes; take --ground auto/,
  ],
  ["a scene that is no plot", ["--scene", "object"], /--scene "object" is none of airborne, plot, tree/],
  ["a method for one tree", ["--scene", "tree", "--method", "chm"], /--scene tree .* leave --method out/],
  ["a height of breast of 0", ["--breast-height", "0"], /--breast-height "0" must be a positive number/],
  ["an area of 0", ["--plot-area", "0"], /--plot-area "0" must be a positive number of m2/],
  ["an unknown equation", ["--biomass", "magic"], /--biomass "magic" is none of chave2014, jenkins2003/],
  ["a density of no equation", ["--wood-density", "0.6"], /--wood-density needs --biomass chave2014/],
  [
    "an unknown group",
    ["--biomass", "jenkins2003", "--jenkins-group", "fern"],
    /--jenkins-group "fern" is none of aspen/,
  ],
  ["a way to tell wood without a model of it", ["--wood", "sota"], /--wood belongs to --qsm; give both/],
  ["an unknown way to tell wood", ["--qsm", "--wood", "magic"], /--wood "magic" is none of .*sota/],
  ["a word for a diameter", ["--min-dbh", "thick"], /--min-dbh "thick" must be a number/],
])("%s is refused and nothing is written", async (_name, more, sentence) => {
  write(places(forestRows(PLOT_TREES)));
  const { code, stderr } = await inventory(...more);
  expect([code, stderr]).toEqual([2, expect.stringMatching(sentence)]);
  expect(existsSync(out())).toBe(false);
});
