import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { standCsv, stemCurveCsv, treeCsv } from "../../../../shared/client/inventory-tables.ts";
import {
  DEFAULT_STAND_SETTINGS,
  JENKINS_GROUPS,
  keepTreeEdits,
  type StandSettings,
  standSummary,
  type TreeEdit,
  treeBiomass,
} from "../../../../shared/client/stand.ts";
import { classesOf } from "../../../../shared/client/value-classes.ts";
import type { StandRecord, TreeRow } from "../../../../shared/contract/cloud-session/tree-inventory-rows.ts";

const tree = (
  tree_id: number,
  dbh_m: number | null,
  height_m: number,
  base: [number, number, number] = [0, 0, 0],
): TreeRow => ({
  tree_id,
  n_points: 1000,
  dbh_m,
  height_m,
  stem_base: base,
  flags: [],
});
const stand: StandRecord = {
  plot_polygon: null,
  plot_area_m2: 500,
  plot_source: "ground_class",
  crown_union_area_m2: 350,
  cover_cell_m: 0.1,
  crown_area_sum_m2: 400,
  unseen_share: 0.2,
  competition_radius_m: 6,
};
const settings = (given: Partial<StandSettings>): StandSettings => ({ ...DEFAULT_STAND_SETTINGS, ...given });
const edit = (status: TreeEdit["status"], species = ""): TreeEdit => ({ species, status, label: "" });
const TREES = [tree(1, 0.3, 20), tree(2, 0.4, 25), tree(3, 0.04, 3), tree(4, null, 12)];

describe("stand summary", () => {
  test("values per hectare of the trees above the smallest diameter", () => {
    const found = standSummary({ trees: TREES, stand });
    expect(found.treeCount).toBe(2);
    expect(found.stemsPerHa).toBeCloseTo(40, 12);
    // pi / 4 (0.09 + 0.16) m2 on 500 m2
    expect(found.basalAreaPerHaM2).toBeCloseTo(3.9269908, 6);
    expect(found.qmdCm).toBeCloseTo(35.3553391, 6);
    expect(found.loreyHeightM).toBeCloseTo((0.09 * 20 + 0.16 * 25) / 0.25, 12);
    expect([found.meanHeightM, found.maxHeightM]).toEqual([22.5, 25]);
    expect(found.treesWithoutDiameter).toBe(1);
    expect(found.canopyCover).toBeCloseTo(0.7, 12);
    expect([found.biomassKg, found.biomassPerHaMg, found.biomassTreesMissing]).toEqual([null, null, 0]);
    expect(found.dbhClasses).toEqual([
      { lo: 30, hi: 35, count: 1 },
      { lo: 35, hi: 40, count: 0 },
      { lo: 40, hi: 45, count: 1 },
    ]);
  });

  test("an entered area replaces the measured one, and cover ends at 1", () => {
    const found = standSummary({ trees: TREES, stand }, settings({ plotAreaM2: 250 }));
    expect([found.plotAreaM2, found.plotAreaSource, found.canopyCover]).toEqual([250, "entered", 1]);
    expect(found.stemsPerHa).toBe(80);
  });

  test("trees that stand outside the measured plot do not count, on its border they do", () => {
    const plot_polygon: [number, number][] = [
      [0, 0],
      [20, 0],
      [20, 25],
      [0, 25],
    ];
    const places: readonly [number, number, number][] = [
      [10, 10, 3],
      [20, 0, 3],
      [20.01, 10, 3],
      [10, -0.01, 3],
    ];
    const trees = places.map((base, i) => tree(i + 1, 0.3, 20 + i, base));
    const found = standSummary({ trees, stand: { ...stand, plot_polygon } });
    expect([found.treeCount, found.treesOutsidePlot, found.maxHeightM]).toEqual([2, 2, 21]);
    expect(found.stemsPerHa).toBeCloseTo(40, 12);
    const entered = standSummary({ trees, stand: { ...stand, plot_polygon } }, settings({ plotAreaM2: 500 }));
    expect([entered.treeCount, entered.treesOutsidePlot]).toEqual([4, 0]);
  });

  test("dead trees count only when wanted", () => {
    const edits = { 1: edit("dead"), 2: edit("damaged") };
    expect(standSummary({ trees: TREES, stand }, DEFAULT_STAND_SETTINGS, edits).treeCount).toBe(1);
    expect(standSummary({ trees: TREES, stand }, settings({ excludeDead: false }), edits).treeCount).toBe(2);
  });

  test("without trees or area values are null, never NaN", () => {
    const found = standSummary({ trees: [], stand: null }, settings({ biomassMethod: "chave2014" }));
    expect(found).toMatchObject({ treeCount: 0, stemsPerHa: null, qmdCm: null, loreyHeightM: null, maxHeightM: null });
    expect(JSON.stringify(found)).not.toContain("NaN");
    expect(found.plotAreaSource).toBe("none");
    expect(standSummary({ trees: TREES, stand: null }).basalAreaPerHaM2).toBeNull();
  });
});

test("where no tree has a diameter, what needs one is unknown, not 0", () => {
  const crowns = [tree(1, null, 20), tree(2, null, 25)];
  const found = standSummary({ trees: crowns, stand }, settings({ biomassMethod: "chave2014" }));
  expect(found).toMatchObject({
    treeCount: 0,
    stemsPerHa: null,
    basalAreaPerHaM2: null,
    qmdCm: null,
    biomassKg: null,
    biomassPerHaMg: null,
    canopyCover: 0.7,
    biomassTreesMissing: 2,
  });
  expect(standCsv("a", found, DEFAULT_STAND_SETTINGS)).toContain("\nbasal_area_per_ha,,m2/ha\n");
  const small = standSummary({ trees: [tree(1, 0.02, 3)], stand });
  expect([small.stemsPerHa, small.basalAreaPerHaM2]).toEqual([0, 0]);
});

describe("biomass", () => {
  // 0.0673 (0.5 * 30^2 * 20)^0.976 and exp(-2.5356 + 2.4349 ln 30), by hand
  test.each([
    ["chave2014", 486.8, 0.05],
    ["jenkins2003", 312.9, 0.05],
  ] as const)("%s", (biomassMethod, kg, within) => {
    const found = treeBiomass(tree(1, 0.3, 20), settings({ biomassMethod, jenkinsGroup: "pine" }));
    expect(Math.abs((found.kg ?? 0) - kg)).toBeLessThan(within);
    expect(found.beyondRange).toBe(false);
  });

  test("the coefficients of all species groups are those of the published table", () => {
    expect(JENKINS_GROUPS).toEqual({
      aspen_alder_cottonwood_willow: { b0: -2.2094, b1: 2.3867, maxCm: 70 },
      soft_maple_birch: { b0: -1.9123, b1: 2.3651, maxCm: 66 },
      mixed_hardwood: { b0: -2.48, b1: 2.4835, maxCm: 56 },
      hard_maple_oak_hickory_beech: { b0: -2.0127, b1: 2.4342, maxCm: 73 },
      cedar_larch: { b0: -2.0336, b1: 2.2592, maxCm: 250 },
      douglas_fir: { b0: -2.2304, b1: 2.4435, maxCm: 210 },
      true_fir_hemlock: { b0: -2.5384, b1: 2.4814, maxCm: 230 },
      pine: { b0: -2.5356, b1: 2.4349, maxCm: 180 },
      spruce: { b0: -2.0773, b1: 2.3323, maxCm: 250 },
      woodland_juniper_oak_mesquite: { b0: -0.7152, b1: 1.7029, maxCm: 78 },
    });
  });

  test("trees without a value and those beyond the equation are counted", () => {
    const big = [tree(1, 0.3, 20), tree(2, 0.57, 25)];
    const hardwood = standSummary({ trees: big, stand }, settings({ biomassMethod: "jenkins2003" }));
    expect([hardwood.biomassTreesMissing, hardwood.biomassTreesBeyondRange]).toEqual([0, 1]);
    expect(hardwood.biomassPerHaMg).toBeCloseTo(((hardwood.biomassKg ?? 0) / 1000 / 500) * 1e4, 12);
    const qsm = standSummary({ trees: big, stand }, settings({ biomassMethod: "qsm" }), {}, { 2: 1.2 });
    expect([qsm.biomassKg, qsm.biomassTreesMissing]).toEqual([600, 1]);
    expect(standSummary({ trees: big, stand }, settings({ biomassMethod: "qsm" })).biomassKg).toBeNull();
  });
});

test("classes hold every value between their edges k * width", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 300, noNaN: true }), { minLength: 1, maxLength: 50 }),
      fc.constantFrom(0.1, 0.3, 2, 5),
      (values, width) => {
        const classes = classesOf(values, width);
        expect(classes.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
        for (const { lo, hi, count } of classes)
          expect(values.filter((value) => value >= lo && value < hi).length).toBe(count);
      },
    ),
    { numRuns: 60 },
  );
  expect(() => classesOf([0, 1e9], 1e-3)).toThrow(RangeError);
  for (const width of [0, -1, Number.NaN, Infinity]) expect(() => classesOf([1], width)).toThrow(RangeError);
});

test("a stray tree 20 km up widens the classes", () => {
  const { heightClasses } = standSummary({ trees: [...TREES, tree(5, 0.3, 20_025)], stand });
  expect(heightClasses[0]).toEqual({ lo: 20, hi: 40, count: 2 });
  expect(heightClasses.at(-1)).toEqual({ lo: 20_020, hi: 20_040, count: 1 });
  expect(() => standSummary({ trees: TREES, stand }, settings({ heightClassM: 0 }))).toThrow(RangeError);
});

test("without a plot there is no cover, also for an entered area; trees without a diameter are counted", () => {
  const none: StandRecord = {
    ...stand,
    plot_area_m2: null,
    plot_source: "none",
    crown_union_area_m2: 0,
    cover_cell_m: 0,
  };
  const found = standSummary({ trees: TREES, stand: none }, settings({ plotAreaM2: 400 }));
  expect([found.canopyCover, found.plotAreaSource, found.stemsPerHa]).toEqual([null, "entered", 50]);
  const dead = { 4: edit("dead") };
  const low = [...TREES, tree(5, null, 1.2)];
  expect(standSummary({ trees: low, stand }).treesWithoutDiameter).toBe(1);
  expect(standSummary({ trees: low, stand }, DEFAULT_STAND_SETTINGS, dead).treesWithoutDiameter).toBe(0);
});

test.each(["flat", "wire", "mirror_image", "repeated", "scattered"] as const)(
  "a wall, a wire, an image, a repeat or rain is no tree without a diameter: %s",
  (flag) => {
    const wall: TreeRow = { ...tree(5, null, 9), flags: [flag, "no_stem"] };
    expect(standSummary({ trees: [...TREES, wall], stand }).treesWithoutDiameter).toBe(1);
  },
);

test.each([
  [1.1, 3],
  [1.37, 1],
])("trees of a breast height of %f m and more are without a diameter: %i", (breast_height_m, count) => {
  const low = [...TREES, tree(5, null, 1.2), tree(6, null, 1.35)];
  expect(standSummary({ trees: low, stand, params: { breast_height_m } }).treesWithoutDiameter).toBe(count);
});

test("an edit survives only with its tree in its place", () => {
  const edits = { 1: edit("dead"), 2: edit("live"), 3: edit("live"), 4: edit("live"), 5: edit("live") };
  const { stem_base: _, ...baseless } = tree(4, null, 1);
  const before = [tree(1, 0.3, 9), tree(2, 0.3, 9), tree(3, 0.3, 9), baseless, baseless];
  const after = [tree(1, 0.3, 9, [0.3, 0.4, 0]), tree(2, 0.3, 9, [0.3, 0.41, 0]), baseless, tree(5, 0.3, 9)];
  expect(Object.keys(keepTreeEdits(edits, before, after))).toEqual(["1", "4"]);
});

describe("CSV", () => {
  test("the tree list has its columns in the agreed order, new ones last", () => {
    const [head = "", first = ""] = [
      ...treeCsv({
        scan_name: 'plot "7", north',
        trees: [
          {
            ...tree(1, 0.3, 20),
            foot: { reach_m: 0.4, top_m: 2.5, axial_m: 3, diameter_m: 0.27, sigma_m: 0.001 },
            top_shared: 0.31,
            stray_top_m: 0.42,
            ground_share: 0.9,
          },
        ],
        settings: settings({ biomassMethod: "chave2014" }),
        edits: { 1: edit("live", "Picea abies") },
      }),
    ];
    expect(head.trim()).toBe(
      "scan_name,tree_id,species,status,label,stem_x,stem_y,ground_z,dbh_m,dbh_rms_m,dbh_arc_coverage,dbh_max_gap_deg,dbh_n_inliers,dbh_method,breast_height_ref_z,height_m,lean_deg,lean_azimuth_deg,crown_base_height_m,crown_projected_area_m2,crown_diameter_mean_m,crown_diameter_equiv_m,crown_max_width_m,crown_perp_width_m,crown_ellipse_eccentricity,crown_offset_m,crown_offset_azimuth_deg,crown_volume_voxel_m3,basal_area_m2,slenderness,ground_source,n_points,flags,hegyi_index,n_competitors,crown_overlap_m2,crown_overlap_fraction,edge,qsm_woody_volume_m3,agb_kg,agb_method,dbh_sigma_m,hegyi_index_corrected,cut_width_m,cut_top,flat_share,above_foot_m,above_foot_diameter_m,top_shared,stray_top_m,ground_share",
    );
    expect(first).toMatch(/^"plot ""7"", north",1,Picea abies,live,,0,0,,0.3,/);
    expect(first).toMatch(/,486\.8\d*,chave2014,,,,,,3,0.27,0.31,0.42,0.9\n$/);
  });

  test("stem curve and stand", () => {
    const section = {
      tree_id: 1,
      axial_m: 0.5,
      height_m: 0.5,
      x: 1,
      y: 2,
      z: 3,
      diameter_m: 0.3,
      rms_m: 0.001,
      arc_coverage: 1,
      n_points: 90,
      ok: true,
    };
    expect([...stemCurveCsv("a", [section])].join("")).toBe(
      "scan_name,tree_id,axial_m,height_m,x,y,z,diameter_m,rms_m,arc_coverage,n_points,ok\na,1,0.5,0.5,1,2,3,0.3,0.001,1,90,true\n",
    );
    const text = standCsv("a", standSummary({ trees: TREES, stand }), DEFAULT_STAND_SETTINGS);
    const [values = "", classes = ""] = text.split("\n\n");
    expect(values.split("\n").map((row) => row.split(",")[0])).toEqual([
      "metric",
      "scan_name",
      "plot_area",
      "plot_area_source",
      "min_dbh",
      "exclude_dead",
      "n_trees",
      "stems_per_ha",
      "basal_area_per_ha",
      "qmd",
      "lorey_height",
      "mean_height",
      "max_height",
      "canopy_cover",
      "biomass_method",
      "wood_density",
      "jenkins_group",
      "biomass",
      "biomass_per_ha",
      "biomass_trees_missing",
      "biomass_trees_beyond_equation_range",
      "n_trees_without_dbh",
      "n_trees_outside_plot",
      "unseen_share",
    ]);
    expect(classes).toMatch(/^class,lo,hi,count\ndbh_cm,30,35,1\n/);
    expect(classes).toContain("height_m,20,22,1");
  });
});
