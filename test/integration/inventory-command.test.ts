import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PNG } from "pngjs";
import { describe, expect, test } from "vitest";
import { inventoryFolder, PLOT_TREES, places } from "../support/cli/inventory-folder.ts";
import { FOUR_TREES, forestRows, forestTwice } from "../support/scans/forest.ts";

const { out, write, inventory } = inventoryFolder("inventory-");
const TREES = PLOT_TREES;
const table = (name: string) => {
  const [head = "", ...rows] = readFileSync(join(out(), name), "utf8").trim().split("\n");
  const names = head.split(",");
  return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [names[i] ?? "", cell])));
};

/** The plot as two scans see it that lie 6 cm apart. */
const apart = () => {
  const rows = forestTwice(FOUR_TREES, "scan_index", [1, 2], 0.06).map((row) => row.split(" "));
  write(rows.map((row) => [...row.slice(0, 3), row.at(-1) ?? ""]));
};
const worstDiameter = () =>
  Math.max(
    ...FOUR_TREES.map(({ x, y, dbh_m }) => {
      const row = table("trees.csv").find((one) => Math.hypot(Number(one.stem_x) - x, Number(one.stem_y) - y) < 0.1);
      return Math.abs(Number(row?.dbh_m) - dbh_m);
    }),
  );

test("scans that do not fit are moved onto each other, unless --no-align says not to", async () => {
  apart();
  expect((await inventory("--method", "default")).code).toBe(0);
  const { warnings, scans_moved, view_fit } = JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"));
  expect(scans_moved).toEqual([1, 2].map((scan_index) => expect.objectContaining({ scan_index })));
  expect(Math.abs(scans_moved[0].x_m - scans_moved[1].x_m)).toBeCloseTo(0.06, 3);
  expect(view_fit).toMatchObject({ aligned: false });
  expect(warnings.join(" ")).toMatch(
    /moved by up to 3\.\d cm, level, by \d+ stems, before trees .* --no-align leaves them\./,
  );
  expect(warnings.join(" ")).not.toMatch(/different scans/);
  expect(worstDiameter()).toBeLessThan(0.005);
  const lying = await inventory("--method", "default", "--force", "--no-align");
  const summary = JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"));
  expect([lying.code, summary.scans_moved, summary.view_fit.aligned]).toEqual([0, [], false]);
  expect(summary.warnings.join(" ")).toMatch(/Diameters are wrong by about as much; leave --no-align out\./);
  expect(worstDiameter()).toBeGreaterThan(0.01);
});

test("flight lines whose ground lies at different heights are told, and the plot is measured as it lies", async () => {
  const [, ...rows] = places(forestRows(TREES));
  const points = rows.map((row) => [...row, 4]);
  for (let i = 0; i < 24_000; i += 1)
    points.push([18 * ((i * 0.7548776662) % 1), 12 * ((i * 0.5698402909) % 1), 0.04 * (i % 2), 4 + (i % 2)]);
  write([["x", "y", "z", "las_point_source_id"], ...points]);
  expect((await inventory("--method", "default", "--scene", "plot")).code).toBe(0);
  const { warnings, scans_moved } = JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"));
  expect(scans_moved).toEqual([]);
  expect(warnings.join(" ")).toMatch(
    /las_point_source_id.* Scans were not moved onto each other: .*neither scan_index/,
  );
});

test("a plot: trees, curves, stand, crowns, pictures, report and the labelled cloud", async () => {
  write(places(forestRows(TREES)));
  const { code, stdout, stderr } = await inventory("--method", "default");
  expect([code, stderr]).toEqual([0, expect.stringContaining("Segmenting trees")]);
  expect(readdirSync(out()).sort()).toEqual([
    "crowns.geojson",
    "crowns.png",
    "diameters.png",
    "heights.png",
    "plot_trees.laz",
    "report.html",
    "stand.csv",
    "stem_curve.csv",
    "stems.png",
    "summary.json",
    "tree_1.png",
    "tree_2.png",
    "tree_3.png",
    "trees.csv",
  ]);
  const trees = table("trees.csv");
  expect(trees).toHaveLength(3);
  for (const truth of TREES) {
    const found = trees.find((row) => Math.hypot(Number(row.stem_x) - truth.x, Number(row.stem_y) - truth.y) < 0.1);
    expect(Math.abs(Number(found?.dbh_m) - truth.dbh_m)).toBeLessThan(0.005);
    expect(Math.abs(Number(found?.height_m) - 8)).toBeLessThan(0.15);
  }
  expect(table("stem_curve.csv").length).toBeGreaterThan(9);
  expect(readFileSync(join(out(), "stand.csv"), "utf8")).toMatch(/\nn_trees,3,\n/);
  const crowns = JSON.parse(readFileSync(join(out(), "crowns.geojson"), "utf8"));
  expect(crowns.features).toHaveLength(3);
  for (const { geometry } of crowns.features)
    expect(geometry.coordinates[0].at(-1)).toEqual(geometry.coordinates[0][0]);
  for (const name of readdirSync(out()).filter((file) => file.endsWith(".png"))) {
    const { data } = PNG.sync.read(readFileSync(join(out(), name)));
    expect([name, new Set(data).size > 10]).toEqual([name, true]);
  }
  const report = readFileSync(join(out(), "report.html"), "utf8");
  expect(report).toContain("Basal area");
  expect(report).toContain("--min-dbh");
  expect(stdout).toMatch(/Quadratic mean diameter/);
  const summary = JSON.parse(readFileSync(join(out(), "summary.json"), "utf8"));
  expect([summary.tree_count, summary.stand.treeCount]).toEqual([3, 3]);
});

test("an entered area, biomass, and what the stand values leave out", async () => {
  const rows = places(forestRows([...TREES, { id: 4, x: 2, y: 2, dbh_m: 0.3 }]));
  // Of the last tree only the crown was seen.
  write(
    rows.filter(([x, y, z]) => !(Number(z) > 0.2 && Number(z) < 3.9 && Math.hypot(Number(x) - 2, Number(y) - 2) < 0.5)),
  );
  const wishes = ["--plot-area", "400", "--biomass", "chave2014", "--wood-density", "0.6", "--method", "default"];
  const { code, stdout } = await inventory(...wishes, "--json");
  expect(code).toBe(0);
  const { stand, warnings, parameters } = JSON.parse(stdout);
  expect(stand).toMatchObject({ plotAreaM2: 400, plotAreaSource: "entered", treeCount: 3, treesWithoutDiameter: 1 });
  expect(stand.stemsPerHa).toBeCloseTo((3 / 400) * 1e4, 9);
  expect(stand.biomassKg).toBeGreaterThan(0);
  expect(parameters).toMatchObject({ plot_area: 400, biomass: "chave2014", wood_density: 0.6, jenkins_group: null });
  expect(warnings.join(" ")).toMatch(/1 tree of breast height and more without a diameter/);
  const text = readFileSync(join(out(), "stand.csv"), "utf8");
  expect(text).toMatch(/\nplot_area,400,m2\nplot_area_source,entered,\n/);
  expect(text).toMatch(/\nn_trees_without_dbh,1,\n/);
  expect(readFileSync(join(out(), "report.html"), "utf8")).toContain("Biomass per hectare");
});

test("a cloud that is one tree needs no ground", async () => {
  write(places(forestRows([{ id: 1, x: 0, y: 0, dbh_m: 0.3 }]).filter((row) => !row.endsWith(" 0 0 1"))));
  const { code, stdout } = await inventory("--json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ method: "one_tree", tree_count: 1 });
  const [tree] = table("trees.csv");
  expect(Math.abs(Number(tree?.dbh_m) - 0.3)).toBeLessThan(0.005);
  expect([tree?.ground_source, tree?.n_points]).toEqual(["tree_min_z", "3000"]);
  expect([tree?.edge, tree?.hegyi_index, tree?.crown_overlap_m2]).toEqual(["", "", ""]);
  expect(readdirSync(out())).not.toContain("stems.png");
  const { width, height } = PNG.sync.read(readFileSync(join(out(), "tree_1.png")));
  expect(Math.max(width, height)).toBeLessThan(700); // pictures of 200 pixels with their axes
  expect(readFileSync(join(out(), "stand.csv"), "utf8")).toContain("\nstems_per_ha,,1/ha\n");
});

describe("what the file names as noise is no part of a single tree", () => {
  const tree = places(forestRows([{ id: 1, x: 0, y: 0, dbh_m: 0.3 }]).filter((row) => !row.endsWith(" 0 0 1")));
  const inventoryOf = async (...noise: (readonly number[])[]) => {
    const [head = [], ...rows] = tree;
    const clean = rows.map((row) => [...row, 5]);
    write([[...head, "las_classification"], ...clean, ...noise.map((place) => [...place, 7])]);
    const { code, stdout } = await inventory("--json");
    expect(code).toBe(0);
    const [row] = table("trees.csv");
    return { ...JSON.parse(stdout), values: [row?.height_m, row?.dbh_m, row?.n_points] };
  };

  test.each([
    ["6 m above the top", [0, 0, 14]],
    ["3 m below the foot", [0, 0, -3]],
    ["between crown and stem", [0.9, 0.2, 3]],
  ])("%s", async (_where, place) => {
    const clean = await inventoryOf();
    rmSync(out(), { recursive: true });
    const found = await inventoryOf(place);
    expect([found.method, found.values]).toEqual(["one_tree", clean.values]);
    expect(found.warnings).toContainEqual(
      "1 point that is labelled as noise (noise_class 2, LAS classes 7 and 18) is given no tree_instance.",
    );
    expect(clean.warnings.join()).not.toContain("labelled as noise");
  });
});

/** Nine crowns as a flight sees them: tops and ground, no stems. */
function crownsFromTheAir(): (string | number)[][] {
  const rows: (string | number)[][] = [["x", "y", "z"]];
  for (let x = 0; x <= 66; x += 1.5) for (let y = 0; y <= 66; y += 1.5) rows.push([x, y, 0]);
  for (let k = 0; k < 9; k += 1) {
    const [cx, cy] = [12 + 20 * (k % 3), 12 + 20 * Math.floor(k / 3)];
    for (let i = 0; i < 200; i += 1) {
      const [r, turn] = [4 * Math.sqrt((i * 0.7548776662) % 1), 2 * Math.PI * ((i * 0.6180339887) % 1)];
      rows.push([cx + r * Math.cos(turn), cy + r * Math.sin(turn), 14 - 0.4 * r * r + 0.2 * ((i * 0.5698402909) % 1)]);
    }
  }
  return rows;
}

test("from the air, crowns have no diameters, and the report says so", async () => {
  write(crownsFromTheAir());
  const { code, stdout } = await inventory();
  expect(code).toBe(0);
  expect(stdout).toMatch(/Diameters +absent/);
  const trees = table("trees.csv");
  expect(trees).toHaveLength(9);
  for (const name of ["dbh_m", "hegyi_index", "basal_area_m2", "lean_deg", "lean_azimuth_deg"])
    expect([name, ...new Set(trees.map((row) => row[name]))]).toEqual([name, ""]);
  expect(readFileSync(join(out(), "stand.csv"), "utf8")).toMatch(/\nstems_per_ha,,1\/ha\nbasal_area_per_ha,,m2\/ha\n/);
  expect(Math.max(...trees.map((row) => Number(row.height_m)))).toBeGreaterThan(13);
});

test("from the air no wood is modelled, unless --scene says that the cloud is a plot", async () => {
  write(crownsFromTheAir());
  const { code, stdout } = await inventory("--qsm", "--json");
  expect(code).toBe(0);
  const { stand, warnings, outputs } = JSON.parse(stdout);
  expect([stand.biomassKg, stand.biomassTreesMissing, outputs.wood]).toEqual([null, 9, undefined]);
  expect(warnings).toContainEqual(
    expect.stringMatching(/^No wood was modelled: the cloud is taken as airborne \(.*\), .* --scene plot\.$/),
  );
  expect(warnings).toContainEqual("The biomass of 9 trees is not known: it needs models of their wood.");
  expect(warnings.join()).not.toContain("equations");
  expect(new Set(table("trees.csv").map((row) => `${row.agb_kg}${row.qsm_woody_volume_m3}`))).toEqual(new Set([""]));
  expect(readdirSync(out())).not.toContain("tree_qsm.csv");
  expect(readFileSync(join(out(), "stand.csv"), "utf8")).toMatch(/\nbiomass,,kg\n[\s\S]*\nbiomass_trees_missing,9,\n/);

  const plot = await inventory("--qsm", "--json", "--force", "--scene", "plot", "--method", "chm");
  expect(JSON.parse(plot.stdout)).toMatchObject({ scene: { kind: "plot", reason: "--scene" }, tree_count: 9 });
  expect(table("tree_qsm.csv")).toHaveLength(9);
});

test("wood is told from leaves before it is modelled, and the labelled cloud has it", async () => {
  write(places(forestRows(TREES)));
  const { code, stdout } = await inventory("--qsm", "--wood", "sota", "--json");
  expect(code).toBe(0);
  const { warnings, parameters, tree_count } = JSON.parse(stdout);
  expect(parameters).toMatchObject({ qsm: true, wood: "sota", align: true });
  expect(warnings.join(" ")).not.toContain("No wood labels");
  const models = table("tree_qsm.csv");
  expect(models).toHaveLength(tree_count);
  expect(new Set(models.map((row) => row.wood_only))).toEqual(new Set(["true"]));
});
