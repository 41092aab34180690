import { z } from "zod";
import { errorCodes } from "../../errors.ts";
import { checkedByService } from "../documented.ts";
import { TREE_VERSION_MEANING, TreeVersion, Warnings } from "../fields.ts";
import { GroundLayers } from "../ground-layers.ts";
import { ScanColumnName, ScanLayers, ScanOffset, ViewFit } from "./scan-fit.ts";
import { CIRCLE_SEARCHES, SkippedTree, StandRecord, StemRow, TreeRow } from "./tree-inventory-rows.ts";

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
  thick_min_radius_m: 0.6,
  thick_max_radius_m: 4,
  thick_inlier_part: 0.03,
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
        "true: where scans do not fit each other, or a carried scanner drifted, trees are measured with their points moved onto each other by the stems that several scans or visits see (view_fit, a warning); without scan numbers and times, the two layers of stems that are seen twice are moved together (scan_layers); false: as the points lie",
      ),
    scan_column: ScanColumnName,
  })
  .meta({ id: "TreeInventoryRequest" });
export type TreeInventoryRequest = z.infer<typeof TreeInventoryRequest>;

const params = {
  ...Object.fromEntries(
    Object.keys(INVENTORY_CONSTANTS)
      .filter((name) => name !== "slice_widen_m")
      .map((name) => [name, z.number().describe("constant of the method")]),
  ),
};

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
      "a view: the points of a stem that one scan (scan_index) measured within 15 seconds of each other (gps time), if the cloud has these columns; null: fewer than four stems are seen by several views, or there are more than 100 scans",
    ),
    ground_layers: GroundLayers.nullable().describe(
      "the ground, seen once more at another height: heights of trees are then up to its z_m too large; null: there is one layer",
    ),
    scan_layers: ScanLayers.nullable().describe(
      "scans of 12 mm to 20 cm beside the others, as four or more stems tell without scan numbers or times; null: scans fit, too few stems show that they do not, or view_fit tells that they drift",
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
