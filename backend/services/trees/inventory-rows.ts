import { standsInPlot } from "../../../shared/client/in-plot.ts";
import {
  GROUND_SOURCES,
  type SkippedTree,
  type StemRow,
  type TreeFlag,
  type TreeRow,
} from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import { LazyList } from "../../../shared/wire/json-values.ts";
import type { TreeInventory } from "../../native/inventory.ts";
import type { CutTrees } from "./cut-trees.ts";
import type { Diameter } from "./doubtful-diameters.ts";
import { type ImpossibleTrees, impossibleTrees } from "./impossible-trees.ts";
import type { TallTree } from "./missing-diameters.ts";
import { numbersOf, Table } from "./native-table.ts";
import type { NoTrees } from "./no-trees.ts";

/** Below this lean its direction is noise, degrees. */
const LEAST_LEAN_DEG = 0.5;

/** The rows of an answer; they are made while it is written. */
export interface InventoryRows {
  readonly trees: LazyList;
  readonly stem_curve: LazyList;
  readonly skipped: LazyList;
  readonly ground_sources: Record<(typeof GROUND_SOURCES)[number], number>;
  /** Skipped because of their size, and for another reason. */
  readonly small_count: number;
  readonly failed_count: number;
  /** Of the trees, ascending. */
  readonly ids: readonly number[];
  readonly impossible: ImpossibleTrees;
  readonly no_trees: NoTrees;
  /** Trees with a diameter outside the plot, and their share of the basal area of the list. */
  readonly outside: { readonly count: number; readonly basal_share: number };
  /** Of the trees that have enough points. */
  readonly heights: readonly TallTree[];
  /** Of the trees that have one. */
  readonly diameters: readonly Diameter[];
  /** Of the circle at breast height of each tree; NaN without one. */
  readonly scatters_m: readonly number[];
  /** Of the height of each measured tree: height_drop_m. */
  readonly drops_m: readonly number[];
  /** Of the trees with a crown. */
  readonly crowns: readonly { readonly area_m2: number; readonly gain_m2: number }[];
}

export function inventoryRows(
  found: TreeInventory,
  { fit_method, min_points }: { readonly fit_method: "ransac" | "hough"; readonly min_points: number },
  cut: CutTrees = new Map(),
): InventoryRows {
  const trees = new Table(found.trees, found.tree_fields);
  const standing = found.stand ? new Table(found.stand_trees, found.stand_fields) : null;
  const curve = new Table(found.curve, found.curve_fields);
  const hulls = numbersOf(found.hulls);
  const firstCorner = startsOf(trees);
  const skipped = numbersOf(found.skipped);
  const hull = (row: number): [number, number][] | null => {
    const count = trees.get(row, "hull_corners");
    const first = firstCorner[row] as number;
    if (count < 3) return null;
    return Array.from({ length: count }, (_, i) => [
      hulls[2 * (first + i)] as number,
      hulls[2 * (first + i) + 1] as number,
    ]);
  };
  const row = (i: number): TreeRow => {
    const id = { tree_id: trees.get(i, "tree_id"), n_points: trees.get(i, "n_points") };
    if (trees.get(i, "too_few_points") === 1) return { ...id, flags: ["too_few_points"] };
    return {
      ...id,
      ...measures(trees, i, fit_method),
      cut_width_m: cut.get(id.tree_id)?.width_m ?? 0,
      cut_top: cut.get(id.tree_id)?.top ?? false,
      crown_hull_xy: hull(i),
      ...(standing ? competing(standing, i) : {}),
      flags: flagsOf(trees, i),
    };
  };
  const ids = Array.from({ length: trees.length }, (_, i) => trees.get(i, "tree_id"));
  const ground_sources = { height_above_ground: 0, ground_class: 0, tree_min_z: 0 };
  for (let i = 0; i < trees.length; i += 1) {
    if (trees.get(i, "too_few_points") === 0) ground_sources[sourceOf(trees, i)] += 1;
  }
  const isFlat = (i: number) => trees.get(i, "flat") === 1;
  const measured = Array.from({ length: trees.length }, (_, i) => i).filter(
    (i) => trees.get(i, "too_few_points") === 0 && !isFlat(i),
  );
  let small_count = 0;
  for (let i = 2; i < skipped.length; i += 3) if (skipped[i] === 0) small_count += 1;
  const small = `fewer than ${min_points} points`;
  return {
    trees: new LazyList(trees.length, row),
    stem_curve: new LazyList(curve.length, (i) => stemRow(curve, i)),
    skipped: new LazyList(skipped.length / 3, (i): SkippedTree => {
      const reason = skipped[3 * i + 2] as number;
      return {
        tree_id: skipped[3 * i] as number,
        n_points: skipped[3 * i + 1] as number,
        reason: reason === 0 ? small : (found.reasons[reason - 1] ?? "unknown"),
      };
    }),
    ground_sources,
    ids,
    impossible: impossibleTrees(trees),
    outside: outsidePlot(trees, found.stand),
    diameters: Array.from({ length: trees.length }, (_, i) => ({
      tree_id: trees.get(i, "tree_id"),
      dbh_m: trees.get(i, "dbh_diameter_m"),
      sigma_m: trees.get(i, "dbh_sigma_m"),
    })).filter(({ dbh_m }) => Number.isFinite(dbh_m)),
    scatters_m: Array.from({ length: trees.length }, (_, i) => trees.get(i, "dbh_scatter_m")),
    heights: measured.map((i) => ({ height_m: trees.get(i, "height_m"), dbh_m: trees.get(i, "dbh_diameter_m") })),
    drops_m: measured.map((i) => trees.get(i, "height_drop_m")),
    crowns: measured
      .map((i) => ({ area_m2: trees.get(i, "crown_projected_area_m2"), gain_m2: trees.get(i, "crown_area_gain_m2") }))
      .filter(({ area_m2 }) => area_m2 > 0),
    no_trees: noTreesOf(trees, ids),
    small_count,
    failed_count: skipped.length / 3 - small_count,
  };
}

function noTreesOf(trees: Table, ids: readonly number[]): NoTrees {
  const squares = ids.map((_, i) => trees.get(i, "dbh_diameter_m") ** 2);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + (value > 0 ? value : 0), 0);
  const isBare = ids.map((_, i) => trees.get(i, "no_crown") === 1);
  return {
    of: ids.length,
    flat: ids.filter((_, i) => trees.get(i, "flat") === 1),
    bare: ids.filter((_, i) => isBare[i]),
    diameters: squares.filter((square) => square > 0).length,
    bare_share: sum(squares.filter((_, i) => isBare[i])) / sum(squares),
  };
}

function outsidePlot(trees: Table, stand: TreeInventory["stand"]): InventoryRows["outside"] {
  let [count, basal, all] = [0, 0, 0];
  for (let i = 0; stand && i < trees.length; i += 1) {
    const square = trees.get(i, "dbh_diameter_m") ** 2;
    if (Number.isNaN(square)) continue;
    all += square;
    if (standsInPlot({ stem_base: trees.point(i, "stem_base") }, stand)) continue;
    count += 1;
    basal += square;
  }
  return { count, basal_share: basal / all };
}

/** First row of the hull of each tree. */
function startsOf(trees: Table): number[] {
  let next = 0;
  return Array.from({ length: trees.length }, (_, i) => {
    const first = next;
    next += trees.get(i, "hull_corners");
    return first;
  });
}

function sourceOf(trees: Table, i: number): (typeof GROUND_SOURCES)[number] {
  const source = GROUND_SOURCES[trees.get(i, "ground_source")];
  if (!source) throw new Error("the inventory names an unknown source of the ground");
  return source;
}

const CIRCLE_FLAGS: readonly (readonly [number, TreeFlag])[] = [
  [1, "few_points"],
  [4, "high_residual"],
  [2, "partial_arc"],
];
const circleFlags = (bits: number) => CIRCLE_FLAGS.filter(([bit]) => (bits & bit) !== 0).map(([, flag]) => flag);

function flagsOf(trees: Table, i: number): TreeFlag[] {
  const bits = trees.known(i, "dbh_flags");
  const flags: TreeFlag[] = bits === null ? ["no_stem"] : circleFlags(bits);
  if (sourceOf(trees, i) === "tree_min_z") flags.push("ground_from_tree_min");
  for (const flag of ["flat", "no_crown"] as const) if (trees.get(i, flag) === 1) flags.push(flag);
  return flags.sort();
}

function measures(trees: Table, i: number, method: "ransac" | "hough") {
  const get = (field: string) => trees.get(i, field);
  const known = (field: string) => trees.known(i, field);
  const dbh_m = known("dbh_diameter_m");
  const [widest, across, area] = [
    known("crown_max_width_m"),
    known("crown_perp_width_m"),
    known("crown_projected_area_m2"),
  ];
  return {
    bbox_min: trees.point(i, "bbox_min"),
    bbox_max: trees.point(i, "bbox_max"),
    ground_source: sourceOf(trees, i),
    ground_z: get("stem_base_z"),
    stem_base: trees.point(i, "stem_base"),
    stem_axis: trees.point(i, "stem_axis"),
    breast_height_ref_z: known("breast_height_ref_z"),
    lean_deg: get("lean_deg"),
    lean_azimuth_deg: get("lean_deg") < LEAST_LEAN_DEG ? null : get("lean_azimuth_deg"),
    dbh_m,
    dbh: dbh_m === null ? null : dbhOf(trees, i, dbh_m, method),
    height_m: get("height_m"),
    height_drop_m: get("height_drop_m"),
    flat_share: known("flat_share"),
    n_crown_points: get("n_crown_points"),
    crown_base_height_m: known("crown_base_height_m"),
    crown_projected_area_m2: area,
    crown_area_gain_m2: known("crown_area_gain_m2"),
    crown_diameter_mean_m: widest === null || across === null ? null : (widest + across) / 2,
    crown_diameter_equiv_m: area === null ? null : 2 * Math.sqrt(area / Math.PI),
    crown_max_width_m: widest,
    crown_perp_width_m: across,
    crown_offset_m: known("crown_offset_m"),
    crown_offset_azimuth_deg: known("crown_offset_azimuth_deg"),
    crown_ellipse_eccentricity: known("crown_ellipse_eccentricity"),
    crown_volume_voxel_m3: known("crown_volume_voxel_m3"),
    basal_area_m2: dbh_m === null ? null : (Math.PI / 4) * dbh_m ** 2,
    slenderness: dbh_m === null ? null : get("height_m") / dbh_m,
  };
}

const dbhOf = (trees: Table, i: number, diameter_m: number, method: "ransac" | "hough") => ({
  diameter_m,
  sigma_m: trees.known(i, "dbh_sigma_m"),
  center: trees.point(i, "dbh_center"),
  rms_m: trees.get(i, "dbh_rms_m"),
  scatter_m: trees.known(i, "dbh_scatter_m"),
  arc_coverage: trees.get(i, "dbh_arc_coverage"),
  max_gap_deg: trees.get(i, "dbh_max_gap_deg"),
  n_points: trees.get(i, "dbh_n_points"),
  n_inliers: trees.get(i, "dbh_n_inliers"),
  slice_thickness_m: trees.get(i, "dbh_slice_thickness_m"),
  method,
  axial_m: trees.get(i, "dbh_axial_m"),
  flags: circleFlags(trees.get(i, "dbh_flags")),
});

const competing = (standing: Table, i: number) => ({
  hegyi_index: standing.known(i, "hegyi_index"),
  hegyi_index_corrected: standing.known(i, "hegyi_index_corrected"),
  n_competitors: standing.get(i, "n_competitors"),
  crown_overlap_m2: standing.known(i, "crown_overlap_m2"),
  crown_overlap_fraction: standing.known(i, "crown_overlap_fraction"),
  edge: standing.get(i, "edge") === 1,
});

const stemRow = (curve: Table, i: number): StemRow => ({
  tree_id: curve.get(i, "tree_id"),
  axial_m: curve.get(i, "axial_m"),
  height_m: curve.get(i, "height_m"),
  x: curve.get(i, "x"),
  y: curve.get(i, "y"),
  z: curve.get(i, "z"),
  diameter_m: curve.get(i, "diameter_m"),
  rms_m: curve.get(i, "rms_m"),
  arc_coverage: curve.get(i, "arc_coverage"),
  n_points: curve.get(i, "n_points"),
  ok: curve.get(i, "ok") === 1,
});
