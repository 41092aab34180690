import { z } from "zod";
import { errorCodes } from "../../errors.ts";
import { checkedByService } from "../documented.ts";
import { TREE_VERSION_MEANING, TreeVersion, Warnings } from "../fields.ts";
import { Point } from "../geometry.ts";

export const CIRCLE_SEARCHES = ["ransac", "hough"] as const;
export const GROUND_SOURCES = ["height_above_ground", "ground_class", "tree_min_z"] as const;
export const TREE_FLAGS = [
  "few_points",
  "ground_from_tree_min",
  "high_residual",
  "no_stem",
  "partial_arc",
  "too_few_points",
] as const;
export type TreeFlag = (typeof TREE_FLAGS)[number];

/** Values of the request that are not sent. */
export const INVENTORY_DEFAULTS = {
  breast_height_m: 1.3,
  fit_method: "ransac",
  slice_thickness_m: 0.1,
  inlier_distance_m: 0.02,
  stem_curve_step_m: 0.5,
  voxel_size_m: 0.1,
  crown_gap_m: 1,
  min_points: 50,
  competition_radius_m: 6,
  align_scans: true,
} as const;

/** Constants of the method, returned in `params`. */
export const INVENTORY_CONSTANTS = {
  slice_widen_m: [0.2, 0.3],
  min_radius_m: 0.02,
  max_radius_m: 1.5,
  min_inliers: 20,
  min_slice_points: 8,
  partial_arc_coverage: 0.5,
  seed_min_m: 0.5,
  seed_max_m: 2.5,
  seed_step_m: 0.25,
  lean_fit_max_m: 4,
  stem_curve_start_m: 0.5,
  max_consecutive_failures: 2,
  crown_bin_m: 0.2,
  crown_occupancy_frac: 0.05,
  ellipticity_square: 0.0025,
  most_view_spread_m: 0.004,
  least_distance_m: 0.1,
  cover_cell_m: 0.1,
  most_cover_cells: 20_000_000,
  most_overlap_pairs: 10_000_000,
  random_seed: 0,
} as const;

/** Shortest stem_curve_step_m, metres. */
export const MIN_STEM_CURVE_STEP_M = 0.01;

const length = (
  name: Exclude<keyof typeof INVENTORY_DEFAULTS, "fit_method" | "min_points" | "align_scans">,
  meaning: string,
) =>
  checkedByService(z.number(), z.number().positive())
    .default(INVENTORY_DEFAULTS[name])
    .describe(`${meaning}, metres, above 0; otherwise the tail reports a failure`);

export const TreeInventoryRequest = z
  .object({
    breast_height_m: length(
      "breast_height_m",
      "height of the diameter at breast height along the stem, from the highest ground around it (1.37 in the USA)",
    ),
    fit_method: checkedByService(z.string(), z.enum(CIRCLE_SEARCHES))
      .default(INVENTORY_DEFAULTS.fit_method)
      .describe(
        "search for the circle of a slice. ransac: the circle through three points with the most points near it; hough: the most frequent circle through three points; any other value: the tail reports a failure",
      ),
    slice_thickness_m: length("slice_thickness_m", "thickness of the slices across the stem"),
    inlier_distance_m: length("inlier_distance_m", "points closer to a circle than this belong to it"),
    stem_curve_step_m: length(
      "stem_curve_step_m",
      `distance between the sections of the stem curve, at least ${MIN_STEM_CURVE_STEP_M}`,
    ),
    voxel_size_m: length("voxel_size_m", "edge of the cubes of crown_volume_voxel_m3"),
    crown_gap_m: length("crown_gap_m", "empty height that ends the crown"),
    tree_ids: z
      .array(z.int().min(0))
      .nullish()
      .default(null)
      .describe("values of tree_instance to measure; null = all; a list leaves the stand out"),
    min_points: z
      .int()
      .min(1)
      .default(INVENTORY_DEFAULTS.min_points)
      .describe("trees with fewer hits are not measured, but returned in skipped"),
    competition_radius_m: length(
      "competition_radius_m",
      "trees within this distance compete (hegyi_index); also the width of the plot's edge zone",
    ),
    skip_noise: z
      .boolean()
      .default(true)
      .describe(
        "true: hits that column noise_class (2) or las_classification (7, 18) names as noise take no part: they belong to no tree, whatever tree_instance says, and do not widen the plot; a warning counts them",
      ),
    align_scans: z
      .boolean()
      .default(INVENTORY_DEFAULTS.align_scans)
      .describe(
        "true: where scans do not fit each other, or a carried scanner drifted, trees are measured with their points moved onto each other by the stems that several scans or visits see (view_fit, a warning); false: as the points lie",
      ),
  })
  .meta({ id: "TreeInventoryRequest" });
export type TreeInventoryRequest = z.infer<typeof TreeInventoryRequest>;

const Measured = z.number().nullable();
const Corner = z.tuple([z.number(), z.number()]);
const Flags = z
  .array(z.enum(TREE_FLAGS))
  .describe(
    "sorted. few_points: fewer than 20 points on the circle; partial_arc: it covers less than half of the stem; high_residual: rms_m above 0.01 and a tenth of the radius; no_stem: no circle at breast height, one in the leaves of a plant lower than 1.5 times breast height, one whose standard error exceeds a quarter of its diameter, or one wider than a fifth of the height of which few points or less than three tenths of the circle were seen; ground_from_tree_min: the ground is the lowest point of the tree; too_few_points: fewer than 3 hits, nothing else was measured",
  );

export const DbhRecord = z
  .object({
    diameter_m: z.number().describe("diameter of the circle, metres"),
    sigma_m: Measured.describe(
      "standard error of diameter_m, metres: from the residuals, the arc, an ellipticity of 5 %, the scatter of the neighbouring sections and rest_m of aligned views; null = unknown",
    ),
    center: Point.describe("centre of the circle, metres, true world"),
    rms_m: z.number().describe("root mean square distance of the points on the circle from it, metres"),
    scatter_m: Measured.describe(
      "1.48 times the median distance from the circle of all points within 0.06 m of it or 0.3 of its radius, metres: the standard deviation of noise; above 0.012 it is part of sigma_m; null = no point there",
    ),
    arc_coverage: z.number().describe("share of 36 sectors of 10 degrees that have a point, 0..1"),
    max_gap_deg: z.number().describe("largest angle without a point, degrees"),
    n_points: z.int().describe("points in the window of the slice"),
    n_inliers: z.int().describe("points on the circle, of at most 20,000 that took part"),
    slice_thickness_m: z.number().describe("thickness used; thin slices are widened while they have few points"),
    method: z.enum(CIRCLE_SEARCHES).describe("fit_method"),
    axial_m: z.number().describe("distance from stem_base along the axis, metres"),
    flags: Flags,
  })
  .meta({ id: "DbhRecord", description: "the circle at breast height" });

const nullable = (meaning: string) => Measured.optional().describe(`${meaning}; null = could not be measured`);
const standing = (meaning: string) =>
  Measured.optional().describe(`${meaning}; absent if stand is null; null = could not be measured`);

/** All but tree_id, n_points and flags is absent for trees with the flag too_few_points. */
export const TreeRow = z
  .object({
    tree_id: z.int().describe("value of tree_instance"),
    n_points: z.int().describe("hits of the tree that are neither deleted nor left out as noise"),
    bbox_min: Point.optional().describe("lowest coordinates, metres, true world"),
    bbox_max: Point.optional().describe("highest coordinates, metres, true world"),
    ground_source: z
      .enum(GROUND_SOURCES)
      .optional()
      .describe(
        "where ground_z comes from. height_above_ground: that column; ground_class: cells of ground points; tree_min_z: lowest point of the tree",
      ),
    ground_z: z.number().optional().describe("elevation of the ground at the stem base, metres, true world"),
    stem_base: Point.optional().describe("where the axis meets the ground, metres, true world; the tree's position"),
    stem_axis: Point.optional().describe("direction of the stem, unit vector upwards; vertical without a stem"),
    breast_height_ref_z: nullable("highest ground around the stem, metres, true world"),
    lean_deg: z.number().optional().describe("angle between axis and vertical, degrees"),
    lean_azimuth_deg: Measured.optional().describe(
      "direction of the lean, degrees clockwise from +y; null below 0.5 degrees",
    ),
    dbh_m: nullable("diameter at breast height, metres; flags tell how far it can be trusted"),
    dbh: DbhRecord.nullable().optional().describe("the circle at breast height; null = none"),
    height_m: z.number().optional().describe("highest point above ground_z, metres"),
    height_drop_m: z
      .number()
      .optional()
      .describe(
        "how much lower height_m would be, in the mean, with every second point of the tree, metres: trees of few points are higher than their highest point, those of a reference forest by about twice this",
      ),
    n_crown_points: z.int().optional().describe("points that are not stem"),
    crown_base_height_m: nullable("lower end of the crown above ground_z, metres"),
    crown_projected_area_m2: nullable("area of the convex hull of the crown seen from above, m2"),
    crown_diameter_mean_m: nullable("mean of the two crown widths, metres"),
    crown_diameter_equiv_m: nullable("diameter of a circle of the same area, metres"),
    crown_max_width_m: nullable("largest width of the crown, metres"),
    crown_perp_width_m: nullable("width at right angles to it, metres"),
    crown_offset_m: nullable("distance of the crown's centroid from the stem base, metres"),
    crown_offset_azimuth_deg: nullable("direction of it, degrees clockwise from +y"),
    crown_ellipse_eccentricity: nullable("of the ellipse with the crown's moments, 0 = round"),
    crown_volume_voxel_m3: nullable("volume of the cubes with crown points, m3"),
    crown_hull_xy: z
      .array(Corner)
      .nullable()
      .optional()
      .describe("corners of the hull, counter-clockwise, at most 720, metres, true world; null = none"),
    basal_area_m2: nullable("pi / 4 dbh^2, m2"),
    slenderness: nullable("height_m / dbh_m"),
    hegyi_index: standing(
      "competition: sum of dbh ratios over distances of the trees within competition_radius_m; too low for edge trees",
    ),
    hegyi_index_corrected: standing(
      "the same with each neighbour weighted by the share of its circle inside the plot (Ripley), without bias at edges",
    ),
    n_competitors: z.int().optional().describe("trees with a dbh within competition_radius_m; absent if stand is null"),
    crown_overlap_m2: standing("sum of the areas that the crown shares with each other one, m2"),
    crown_overlap_fraction: standing("share of the crown inside at least one other, 0..1"),
    edge: z
      .boolean()
      .optional()
      .describe("true: closer to the plot's boundary than competition_radius_m, outside it, or the plot is unknown"),
    flags: Flags,
  })
  .meta({ id: "TreeRow", description: "measures of one tree" });
export type TreeRow = z.infer<typeof TreeRow>;

export const StemRow = z
  .object({
    tree_id: z.int().describe("value of tree_instance"),
    axial_m: z.number().describe("distance from the stem base along the axis, metres"),
    height_m: z.number().describe("height of the centre above the tree's ground_z, metres"),
    x: z.number().describe("centre of the section, metres, true world"),
    y: z.number().describe("metres, true world"),
    z: z.number().describe("metres, true world"),
    diameter_m: z.number().describe("diameter of the section, metres"),
    rms_m: z.number().describe("root mean square distance of its points from the circle, metres"),
    arc_coverage: z.number().describe("share of 36 sectors of 10 degrees that have a point, 0..1"),
    n_points: z.int().describe("points in the section's window"),
    ok: z
      .boolean()
      .describe("false: few points, large residuals or a jump of the radius; such sections did not guide the next"),
  })
  .meta({ id: "StemRow", description: "a section of a stem curve" });
export type StemRow = z.infer<typeof StemRow>;

export const StandRecord = z
  .object({
    plot_polygon: z
      .array(Corner)
      .nullable()
      .describe("corners of the plot, counter-clockwise, at most 720, metres, true world; null = none"),
    plot_area_m2: z.number().nullable().describe("area of the plot, m2; null = none"),
    plot_source: z
      .enum(["ground_class", "all_points", "none"])
      .describe(
        "points whose convex hull is the plot. ground_class: nine of ten trees and half of their crown area stand on it; all_points: otherwise; none: points are within 2.5 m to 5 m of less than half of that hull, or on a line",
      ),
    crown_union_area_m2: z.number().describe("area inside the plot covered by at least one crown, m2"),
    cover_cell_m: z.number().describe("edge of the cells that measured it, metres; 0 without a plot"),
    crown_area_sum_m2: z.number().describe("sum of the crown areas, m2; overlaps count twice"),
    competition_radius_m: z.number().describe("of the request, metres"),
  })
  .meta({ id: "StandRecord", description: "plot and cover of all trees together" });
export type StandRecord = z.infer<typeof StandRecord>;

export const SkippedTree = z
  .object({
    tree_id: z
      .number()
      .describe("value of tree_instance, rounded from 2^53 on where values are no ids, or of tree_ids without a point"),
    n_points: z.int().describe("hits of the tree that are neither deleted nor left out as noise"),
    reason: z.string().describe("why it is not in trees, a sentence part"),
  })
  .meta({ id: "SkippedTree", description: "a tree that is not in the list" });
export type SkippedTree = z.infer<typeof SkippedTree>;

const params = {
  ...Object.fromEntries(
    Object.keys(INVENTORY_CONSTANTS)
      .filter((name) => name !== "slice_widen_m")
      .map((name) => [name, z.number().describe("constant of the method")]),
  ),
};

export const ScanOffset = z
  .object({
    scan_a: z.number().describe("value of scan_index"),
    scan_b: z.number().describe("value of scan_index, above scan_a"),
    n_stems: z.int().describe("stems that both scans show on 80 degrees and more at breast height"),
    x_m: z.number().describe("median offset of the stems in scan_b against scan_a along x, metres"),
    y_m: z.number().describe("the same along y, metres"),
    spread_m: z.number().describe("1.48 times the median distance of the offsets from these, metres"),
  })
  .meta({ id: "ScanOffset", description: "where stems stand in one scan against another" });

export const ViewFit = z
  .object({
    n_stems: z.int().describe("stems of which two or more views have 15 points at breast height"),
    spread_m: z
      .number()
      .describe(
        "how far views lie from where their mean has the stems, root mean square along x and along y, metres; before they were moved",
      ),
    rest_m: z
      .number()
      .describe(
        "by how much places of one stem differ besides, 1.48 times the median, metres; of moved views if aligned",
      ),
    aligned: z
      .boolean()
      .describe(
        "true: spread_m is above most_view_spread_m and above what noise explains, and trees were measured with their points moved and turned by the drift of their scan at their time, level; positions are those of the mean of all views",
      ),
  })
  .meta({ id: "ViewFit", description: "how well views of the stems fit each other" });

export type ViewFit = z.infer<typeof ViewFit>;

export const TreeInventoryTail = z
  .object({
    success: z.boolean().describe("false: no tree was measured; the reason is in error, or in warnings"),
    trees: z.array(TreeRow).describe("measured trees, ascending tree_id"),
    stem_curve: z.array(StemRow).describe("sections of all trees, by tree and ascending axial_m"),
    stand: StandRecord.nullable().describe("null for a list of tree_ids, and if no tree was measured"),
    ground_sources: z
      .object({
        height_above_ground: z.int().describe("trees whose ground comes from heights above ground"),
        ground_class: z.int().describe("trees whose ground comes from ground points"),
        tree_min_z: z.int().describe("trees whose ground is their lowest point"),
      })
      .describe("trees by the source of the ground under them"),
    skipped: z.array(SkippedTree).describe("every other id of tree_instance or tree_ids, ascending"),
    noise_count: z
      .int()
      .optional()
      .describe("number of hits left out as noise; 0 with skip_noise false; absent if refused"),
    scan_offsets: z
      .array(ScanOffset)
      .describe(
        "pairs of scans (scan_index, up to 64) in which three or more stems are seen well; scans that fit each other are up to 3 mm apart; empty for one scan",
      ),
    view_fit: ViewFit.nullable().describe(
      "a view: the points of a stem that one scan (scan_index) measured within 15 seconds of each other (gps time), if the cloud has these columns; null: fewer than three stems are seen by several views, or there are more than 100 scans",
    ),
    tree_version: TreeVersion.optional().describe(
      `${TREE_VERSION_MEANING}, as they were measured: while GET /api/cloud/sessions tells the same for the session, the list is about its points and its tree numbers; absent if refused`,
    ),
    warnings: Warnings,
    params: z
      .object({
        breast_height_m: z.number().describe("of the request"),
        fit_method: z.enum(CIRCLE_SEARCHES).describe("of the request"),
        slice_thickness_m: z.number().describe("of the request"),
        inlier_distance_m: z.number().describe("of the request"),
        stem_curve_step_m: z.number().describe("of the request"),
        voxel_size_m: z.number().describe("of the request"),
        crown_gap_m: z.number().describe("of the request"),
        tree_ids: z.array(z.int()).nullable().describe("of the request"),
        min_points: z.int().describe("of the request"),
        competition_radius_m: z.number().describe("of the request"),
        skip_noise: z.boolean().optional().describe("of the request"),
        align_scans: z.boolean().describe("of the request"),
        slice_widen_m: z
          .array(z.number())
          .describe("thicknesses that a slice at breast height with few points is widened to, metres"),
        ...params,
      })
      .nullable()
      .describe("all parameters used, with the constants of the method; null = refused"),
    error: z.string().nullable().describe("reason of a failure, a sentence for the user; null = success"),
    code: z.enum(errorCodes).optional().describe("error code; failures only"),
  })
  .meta({ id: "TreeInventoryTail" });
export type TreeInventoryTail = z.infer<typeof TreeInventoryTail>;
