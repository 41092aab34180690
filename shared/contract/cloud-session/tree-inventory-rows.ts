import { z } from "zod";
import { Point } from "../geometry.ts";

export const CIRCLE_SEARCHES = ["ransac", "hough"] as const;
export const GROUND_SOURCES = ["height_above_ground", "ground_class", "tree_min_z"] as const;
export const TREE_FLAGS = [
  "at_wall",
  "buttressed",
  "covered",
  "few_points",
  "flat",
  "ground_from_tree_min",
  "high_residual",
  "mirror_image",
  "no_crown",
  "no_stem",
  "partial_arc",
  "repeated",
  "same_stem",
  "scattered",
  "shared_top",
  "stray_top",
  "thick_top",
  "too_few_points",
  "wire",
] as const;
export type TreeFlag = (typeof TREE_FLAGS)[number];
/** Of trees that are none: in no value of the stand. */
export const NO_TREE_FLAGS: readonly TreeFlag[] = ["flat", "mirror_image", "repeated", "scattered", "wire"];

const Measured = z.number().nullable();
const Corner = z.tuple([z.number(), z.number()]);
const Flags = z
  .array(z.enum(TREE_FLAGS))
  .describe(
    "sorted. at_wall: within 0.4 m of a stem with a diameter points of flat trees lie on every level from 0.5 to 3 m above its ground, as beside drain pipes and the edges of bay windows: perhaps no tree; buttressed: the stem is widened at breast height by buttresses, flutes or prop roots (foot): dbh_m is the circle between them, and basal_area_m2 that of it; covered: leaves, as of ivy, cover the stem at breast height, and no bark is seen between them: points scatter about the circle there three times as much as about two sections of the bare stem above. It has no diameter, and stem_curve those of the bare sections; flat: three tenths or more of the points lie on flat surfaces (flat_share), as of a wall, a roof or a vehicle: no tree. It has no diameter, and is in no value of the stand; no_crown: beside a stem with a diameter the crown (cubes of 0.1 m) has less than 0.1 of the volume of a cylinder of that diameter and height, or less than twice of it and that within a quarter of the height, as of a post, a lamp, a mast or a dead stem; few_points: fewer than 20 points on the circle; partial_arc: it covers less than half of the stem; high_residual: rms_m above 0.01 and a tenth of the radius; mirror_image: glass, as of windows, shows another tree in its place, behind a wall: its mirrored points lie in the place of points of that tree, and its stem at the stem. It has no diameter, and is in no value of the stand; no_stem: no circle at breast height and, from 1 to 2 m, no stem whose bark shows on at least a quarter of its girth, one through one or two columns of points, as a scan has them on a thin stem, one in the leaves of a plant lower than 1.5 times breast height, one whose standard error exceeds a quarter of its diameter, or one wider than a fifth of the height of which few points or less than three tenths of the circle were seen; repeated: one motion in the plane takes many stems of the list to others of the same diameter, or from within others, and this one, of the side with fewer points, is where another comes to: the cloud shows the tree twice, as scans do that do not fit each other; or the layers of stems were joined (scan_layers), and it is a part of the tree that it stands in, which was measured with its points. It has no diameter, and is in no value of the stand; same_stem: the circle at breast height was in the place of that of another tree, one of which held the centre of the other, and less well known (sigma_m over diameter_m), so that it is no diameter; scattered: half of the points are at least 8 times as far from the nearest one as ground points there, and it has no diameter, as drops of rain, snow, fog, dust and insects: no tree. It is in no value of the stand; shared_top: more than a fifth of the points about the highest one belong to other trees (top_shared): height_m may be that of a neighbour, or too small; stray_top: the highest points stand alone by more than 0.3 m or 3 % of the height (stray_top_m): height_m may be that of rain, insects or noise; thick_top: the last section of stem_curve that is ok lies in the highest quarter of the tree, less than 8 times its diameter below the highest point, as of a broken stem, a palm, or a stem whose top was not seen: height_m may be too small; ground_from_tree_min: the ground is the lowest point of the tree; too_few_points: fewer than 3 hits, nothing else was measured; wire: six tenths or more of the points lie on thin lines that rise by less than 30 degrees, it is twice as long as high and has no diameter, as the conductors of a power line: no tree. It is in no value of the stand",
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
      "1.48 times the median distance from the circle of all points within 0.06 m of it or 0.3 of its radius, metres: the standard deviation of noise; where bark is seen between leaves that cover it, of the points of the bark alone; above 0.012 it is part of sigma_m; null = no point there",
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

export const FootRecord = z
  .object({
    reach_m: z
      .number()
      .describe("how far it reaches beyond the circle of dbh, metres: nine tenths of the points at breast height"),
    top_m: z.number().describe("from stem_base along the axis to where the stem is round, by levels of 0.25 m, metres"),
    axial_m: Measured.describe(
      "from stem_base along the axis to the section of the stem curve at least 0.5 m above it, metres; null = none is well seen",
    ),
    diameter_m: Measured.describe("diameter of that section, metres: the diameter above buttresses"),
    sigma_m: Measured.describe("standard error of diameter_m, metres"),
  })
  .meta({ id: "FootRecord", description: "what widens the foot of a stem up to above breast height" });

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
    stem_base: Point.optional().describe(
      "where the axis meets the ground, metres, true world; the tree's position. Without a stem at breast height: the foot of its trunk where a tree lower than 6.7 m shows one, else the ground below its highest point",
    ),
    stem_axis: Point.optional().describe("direction of the stem, unit vector upwards; vertical without a stem"),
    breast_height_ref_z: nullable("highest ground around the stem, metres, true world"),
    lean_deg: z.number().optional().describe("angle between axis and vertical, degrees"),
    lean_azimuth_deg: Measured.optional().describe(
      "direction of the lean, degrees clockwise from +y; null below 0.5 degrees",
    ),
    dbh_m: nullable("diameter at breast height, metres; flags tell how far it can be trusted"),
    dbh: DbhRecord.nullable().optional().describe("the circle at breast height; null = none"),
    foot: FootRecord.nullable()
      .optional()
      .describe(
        "buttresses, flutes or prop roots that widen the stem at breast height and fall towards it upwards; null = none",
      ),
    height_m: z.number().optional().describe("highest point above ground_z, metres"),
    height_drop_m: z
      .number()
      .optional()
      .describe(
        "how much lower height_m would be, in the mean, with every second point of the tree, metres: trees of few points are higher than their highest point, those of a reference forest by about twice this",
      ),
    top_shared: nullable(
      "share 0..1 of the points of trees within 1 m of the highest one (or a tenth of the tree's extent in z) that belong to other trees: above 0.2 height_m is in doubt, as where crowns meet and the top of one was given to another; in generated stands with closed canopies, scanned from four places, 43 % of such heights were more than 0.3 m off, and 0.4 % of the others",
    ),
    stray_top_m: nullable(
      "how much lower the highest point is that does not stand alone, metres: clusters of up to 16 points, of the highest tenth (at least 1000, at most 100,000), that are far from the others, as those of method auto of denoise; 0 = the highest one does not; null = fewer than 34 points. In clean scans it is mostly 0, and some tenths where few beams reach the tops",
    ),
    flat_share: nullable(
      "share 0..1 of the points that lie on flat surfaces: the points of all trees within 0.5 m (of sparse clouds up to 3 m) lie within 0.06 of that of a plane, reach over it in two directions, and do not turn about the vertical with a radius of up to 5 m, as trunks of giants do; trees of reference forests have 0 to 0.08; null = fewer than 10 points",
    ),
    ground_share: nullable(
      "share 0..1 of the cells of 0.5 m within 2 m of stem_base that hold points of the ground class; where it is below 0.2 hardly any ground was seen there, and ground_z is that of the lowest points of the tree: height_m and the height of the diameter begin there; null = no point of the cloud is labelled ground",
    ),
    cut_width_m: z
      .number()
      .optional()
      .describe(
        "length of the border of the cloud, seen from above, along which the tree does not thin out but ends, as where a plot was cut out of a forest, metres: what lies beyond is missing from its crown; 0 = none that is wide and dense enough to be seen",
      ),
    cut_top: z
      .boolean()
      .optional()
      .describe(
        "true: it ends so at a level plane above, as where a cloud was cut off at a height: height_m is too small",
      ),
    n_crown_points: z.int().optional().describe("points that are not stem"),
    crown_base_height_m: nullable("lower end of the crown above ground_z, metres"),
    crown_projected_area_m2: nullable("area of the convex hull of the crown seen from above, m2"),
    crown_area_gain_m2: nullable(
      "how much larger it would be, in the mean, if the points are spread evenly over the crown, m2: hulls of few points are smaller than the crown (Ripley & Rasson 1977); crowns thin out towards their edge, so that those of generated stands were larger by 1.5 to 4 times this",
    ),
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
    unseen_share: z
      .number()
      .nullable()
      .describe(
        "share 0..1 of the plot without a point lower than 2 m above the ground, by cells of 0.5 m (1 m in sparse clouds): stems there are hidden, too, so that values per area are too small by up to about as much; null = unknown: no heights above ground, plot_source is not ground_class, fewer than 4 such points per m2, a plot below 25 m2",
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
