import type { StemRow, TreeRow } from "../contract/cloud-session/tree-inventory-rows.ts";
import { type CsvCell, csvLine } from "../wire/csv-cell.ts";
import { type StandSettings, type StandSummary, type TreeEdits, treeBiomass, type WoodVolumes } from "./stand.ts";

const line = (cells: readonly CsvCell[]) => `${csvLine(cells)}\n`;

interface ListedTree {
  readonly scan_name: string;
  readonly tree: TreeRow;
  readonly edits: TreeEdits;
  readonly settings: StandSettings;
  readonly volumes: WoodVolumes;
}
type Column<Row> = readonly [name: string, value: (row: Row) => CsvCell];

/** A column with the name of a field. */
const field = (name: keyof TreeRow): Column<ListedTree> => [name, ({ tree }) => tree[name] as CsvCell];

/** The order is a contract: new columns are appended. */
const TREE_COLUMNS: readonly Column<ListedTree>[] = [
  ["scan_name", ({ scan_name }) => scan_name],
  field("tree_id"),
  ["species", ({ tree, edits }) => edits[tree.tree_id]?.species],
  ["status", ({ tree, edits }) => edits[tree.tree_id]?.status],
  ["label", ({ tree, edits }) => edits[tree.tree_id]?.label],
  ["stem_x", ({ tree }) => tree.stem_base?.[0]],
  ["stem_y", ({ tree }) => tree.stem_base?.[1]],
  field("ground_z"),
  field("dbh_m"),
  ["dbh_rms_m", ({ tree }) => tree.dbh?.rms_m],
  ["dbh_arc_coverage", ({ tree }) => tree.dbh?.arc_coverage],
  ["dbh_max_gap_deg", ({ tree }) => tree.dbh?.max_gap_deg],
  ["dbh_n_inliers", ({ tree }) => tree.dbh?.n_inliers],
  ["dbh_method", ({ tree }) => tree.dbh?.method],
  field("breast_height_ref_z"),
  field("height_m"),
  field("lean_deg"),
  field("lean_azimuth_deg"),
  field("crown_base_height_m"),
  field("crown_projected_area_m2"),
  field("crown_diameter_mean_m"),
  field("crown_diameter_equiv_m"),
  field("crown_max_width_m"),
  field("crown_perp_width_m"),
  field("crown_ellipse_eccentricity"),
  field("crown_offset_m"),
  field("crown_offset_azimuth_deg"),
  field("crown_volume_voxel_m3"),
  field("basal_area_m2"),
  field("slenderness"),
  field("ground_source"),
  field("n_points"),
  ["flags", ({ tree }) => tree.flags.join(";")],
  field("hegyi_index"),
  field("n_competitors"),
  field("crown_overlap_m2"),
  field("crown_overlap_fraction"),
  field("edge"),
  ["qsm_woody_volume_m3", ({ tree, volumes }) => volumes[tree.tree_id]],
  ["agb_kg", ({ tree, settings, volumes }) => treeBiomass(tree, settings, volumes).kg],
  ["agb_method", ({ settings: { biomassMethod } }) => (biomassMethod === "none" ? "" : biomassMethod)],
  ["dbh_sigma_m", ({ tree }) => tree.dbh?.sigma_m],
  field("hegyi_index_corrected"),
  field("cut_width_m"),
  field("cut_top"),
  field("flat_share"),
  ["above_foot_m", ({ tree }) => tree.foot?.axial_m],
  ["above_foot_diameter_m", ({ tree }) => tree.foot?.diameter_m],
  field("top_shared"),
  field("stray_top_m"),
  field("ground_share"),
];

export interface TreeTable {
  readonly scan_name: string;
  readonly trees: readonly TreeRow[];
  readonly settings: StandSettings;
  readonly edits?: TreeEdits;
  readonly volumes?: WoodVolumes;
}

/** The tree list as CSV, line by line; coordinates true world, metres. */
export function* treeCsv({ scan_name, trees, settings, edits = {}, volumes = {} }: TreeTable): Generator<string> {
  yield line(TREE_COLUMNS.map(([name]) => name));
  for (const tree of trees)
    yield line(TREE_COLUMNS.map(([, value]) => value({ scan_name, tree, edits, settings, volumes })));
}

const STEM_FIELDS = [
  "tree_id",
  "axial_m",
  "height_m",
  "x",
  "y",
  "z",
  "diameter_m",
  "rms_m",
  "arc_coverage",
  "n_points",
  "ok",
] as const;

/** The stem curves as CSV, line by line. */
export function* stemCurveCsv(scan_name: string, sections: readonly StemRow[]): Generator<string> {
  yield line(["scan_name", ...STEM_FIELDS]);
  for (const section of sections) yield line([scan_name, ...STEM_FIELDS.map((name) => section[name])]);
}

/** Values of a stand with their units, then the histograms. */
export function standCsv(scan_name: string, stand: StandSummary, settings: StandSettings): string {
  const { biomassMethod, woodDensity, jenkinsGroup } = settings;
  const has = biomassMethod !== "none";
  const rows: (readonly [string, CsvCell, string])[] = [
    ["scan_name", scan_name, ""],
    ["plot_area", stand.plotAreaM2, "m2"],
    ["plot_area_source", stand.plotAreaSource, ""],
    ["min_dbh", settings.minDbhCm, "cm"],
    ["exclude_dead", settings.excludeDead, ""],
    ["n_trees", stand.treeCount, ""],
    ["stems_per_ha", stand.stemsPerHa, "1/ha"],
    ["basal_area_per_ha", stand.basalAreaPerHaM2, "m2/ha"],
    ["qmd", stand.qmdCm, "cm"],
    ["lorey_height", stand.loreyHeightM, "m"],
    ["mean_height", stand.meanHeightM, "m"],
    ["max_height", stand.maxHeightM, "m"],
    ["canopy_cover", stand.canopyCover, "fraction"],
    ["biomass_method", biomassMethod, ""],
    ["wood_density", biomassMethod === "chave2014" || biomassMethod === "qsm" ? woodDensity : null, "g/cm3"],
    ["jenkins_group", biomassMethod === "jenkins2003" ? jenkinsGroup : null, ""],
    ["biomass", stand.biomassKg, "kg"],
    ["biomass_per_ha", stand.biomassPerHaMg, "Mg/ha"],
    ["biomass_trees_missing", has ? stand.biomassTreesMissing : null, ""],
    ["biomass_trees_beyond_equation_range", has ? stand.biomassTreesBeyondRange : null, ""],
    ["n_trees_without_dbh", stand.treesWithoutDiameter, ""],
    ["n_trees_outside_plot", stand.treesOutsidePlot, ""],
    ["unseen_share", stand.unseenShare, "fraction"],
  ];
  const classes = [
    ...stand.dbhClasses.map(({ lo, hi, count }) => ["dbh_cm", lo, hi, count] as const),
    ...stand.heightClasses.map(({ lo, hi, count }) => ["height_m", lo, hi, count] as const),
  ];
  return [
    line(["metric", "value", "unit"]),
    ...rows.map(line),
    "\n",
    line(["class", "lo", "hi", "count"]),
    ...classes.map(line),
  ].join("");
}
