import {
  GROUND_SOURCES,
  type StemRow,
  type TreeFlag,
} from "../../../shared/contract/cloud-session/tree-inventory-rows.ts";
import type { Table } from "./native-table.ts";
import { hasSharedTop } from "./shared-tops.ts";
import { strayTop } from "./stray-tops.ts";

/** Below this lean its direction is noise, degrees. */
const LEAST_LEAN_DEG = 0.5;

export function sourceOf(trees: Table, i: number): (typeof GROUND_SOURCES)[number] {
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

export function flagsOf(trees: Table, i: number): TreeFlag[] {
  const bits = trees.known(i, "dbh_flags");
  const flags: TreeFlag[] = bits === null ? ["no_stem"] : circleFlags(bits);
  if (sourceOf(trees, i) === "tree_min_z") flags.push("ground_from_tree_min");
  for (const flag of ["at_wall", "covered", "flat", "no_crown", "scattered", "wire"] as const)
    if (trees.get(i, flag) === 1) flags.push(flag);
  if (trees.get(i, "same_stem_as") > 0) flags.push("same_stem");
  if (trees.get(i, "image_of") > 0) flags.push("mirror_image");
  if (trees.get(i, "repeat_of") > 0 || trees.get(i, "part_of") > 0) flags.push("repeated");
  if (trees.known(i, "foot_top_m") !== null) flags.push("buttressed");
  if (hasSharedTop(trees, i)) flags.push("shared_top");
  if (strayTop(trees, i) > 0) flags.push("stray_top");
  return flags.sort();
}

export function measures(trees: Table, i: number, method: "ransac" | "hough") {
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
    foot: footOf(trees, i),
    height_m: get("height_m"),
    height_drop_m: get("height_drop_m"),
    top_shared: known("top_shared"),
    stray_top_m: known("stray_top_m"),
    flat_share: known("flat_share"),
    ground_share: known("ground_share"),
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

function footOf(trees: Table, i: number) {
  const top_m = trees.known(i, "foot_top_m");
  if (top_m === null) return null;
  return {
    ...{ reach_m: trees.get(i, "foot_reach_m"), top_m },
    axial_m: trees.known(i, "foot_axial_m"),
    diameter_m: trees.known(i, "foot_diameter_m"),
    sigma_m: trees.known(i, "foot_sigma_m"),
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

export const competing = (standing: Table, i: number) => ({
  hegyi_index: standing.known(i, "hegyi_index"),
  hegyi_index_corrected: standing.known(i, "hegyi_index_corrected"),
  n_competitors: standing.get(i, "n_competitors"),
  crown_overlap_m2: standing.known(i, "crown_overlap_m2"),
  crown_overlap_fraction: standing.known(i, "crown_overlap_fraction"),
  edge: standing.get(i, "edge") === 1,
});

export const stemRow = (curve: Table, i: number): StemRow => ({
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
