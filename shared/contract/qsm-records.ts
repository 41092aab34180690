import { z } from "zod";
import { Point } from "./geometry.ts";

/* Records of a quantitative structure model (QSM): a tree as connected cylinders. Lengths in metres, angles in degrees. */

export const QsmCylinder = z
  .object({
    cyl_id: z.int().min(0).describe("unique within the model"),
    start: Point.describe("base, metres"),
    end: Point.describe("tip, metres"),
    radius: z.number().positive().describe("metres"),
    parent_id: z.int().min(-1).describe("cyl_id of the cylinder that carries it; -1 = root"),
    shoot_id: z.int().min(0).describe("shoot that it belongs to"),
    rank: z.int().min(0).describe("branching order: 0 stem, 1 branches of the stem; an axis keeps its rank"),
    surf_cov: z.number().min(0).max(1).nullable().default(null).describe("share of the lateral surface seen, 0..1"),
    mad: z
      .number()
      .min(0)
      .nullable()
      .default(null)
      .describe("mean |distance| of its points to it, m; null: not fitted"),
    radius_se: z.number().min(0).nullable().default(null).describe("standard error of radius, m; null: unknown"),
  })
  .meta({ id: "QsmCylinder", description: "one cylinder of a QSM, base to tip" });
export type QsmCylinder = z.infer<typeof QsmCylinder>;

export const QsmShoot = z
  .object({
    shoot_id: z.int().min(0).describe("unique within the model"),
    rank: z.int().min(0).describe("branching order of its cylinders"),
    cylinder_ids: z.array(z.int().min(0)).describe("base to tip"),
    parent_shoot_id: z.int().min(-1).default(-1).describe("-1 = none"),
    parent_cyl_id: z.int().min(-1).default(-1).describe("cylinder of the parent shoot that it leaves from; -1 = none"),
    child_shoot_ids: z.array(z.int().min(0)).default([]).describe("shoots that leave from it"),
  })
  .meta({ id: "QsmShoot", description: "a run of cylinders along one axis" });
export type QsmShoot = z.infer<typeof QsmShoot>;

const VolumeInterval = z.tuple([z.number(), z.number()]).nullable().default(null);
const INTERVAL =
  "95 % interval, m3; null where radii are guesses, unless the points are labelled as wood and some radii were measured, or a part of the tree is missing (a warning says why), and for an imported QSM. The errors of wood labels are not in it";

export const QsmRankMetrics = z.object({
  rank: z.int().min(0).describe("branching order"),
  n_shoots: z.int().describe("shoots of this rank"),
  total_length_m: z.number().describe("length of its cylinders, m"),
  mean_shoot_length_m: z.number().describe("the same per shoot, m; 0 without a shoot"),
  woody_volume_m3: z.number().describe("sum of pi r^2 L, m3"),
  mean_diameter_mm: z.number().describe("weighted by length"),
  mean_branch_angle_deg: z
    .number()
    .nullable()
    .describe("mean angle between a shoot's first cylinder and its parent cylinder; null for the stem"),
});

export const QsmMetrics = z
  .object({
    tcsa_m2: z.number().describe("cross-section area of the stem's base cylinder, m2"),
    trunk_diameter_mm: z.number().describe("its diameter, mm"),
    tree_height_m: z.number().describe("z extent of all cylinder ends, m"),
    n_scaffolds: z.int().describe("shoots of rank 1"),
    n_shoots_total: z.int().describe("shoots of all ranks"),
    max_rank: z.int().describe("highest branching order"),
    total_woody_volume_m3: z.number().describe("sum of pi r^2 L, m3"),
    stem_volume_m3: z.number().describe("the same of rank 0"),
    branch_volume_m3: z.number().describe("the same of rank 1 and higher"),
    total_length_m: z.number().describe("length of all cylinders, m"),
    canopy_width_m: z.number().describe("diagonal of the xy box of all cylinder ends, m"),
    canopy_height_m: z.number().describe("z extent of the wood of rank 1 and higher, m; 0 if there is none"),
    per_rank: z.array(QsmRankMetrics).describe("one per branching order, ascending"),
    total_woody_volume_ci95_m3: VolumeInterval.describe(INTERVAL),
    stem_volume_ci95_m3: VolumeInterval.describe(INTERVAL),
    branch_volume_ci95_m3: VolumeInterval.describe(INTERVAL),
  })
  .meta({ id: "QsmMetrics" });
export type QsmMetrics = z.infer<typeof QsmMetrics>;

export const TreeViewFit = z
  .object({
    n_views: z.int().describe("scans, or visits of a scanner that is carried, that show it"),
    spread_m: z
      .number()
      .describe(
        "how far its points are from where the mean of the views has them, root mean square, metres; 0 unless it sways",
      ),
    scatter_m: z
      .number()
      .describe(
        "scatter of points about branches that each view may have at another place, robust standard deviation, metres",
      ),
    together_m: z.number().describe("the same about branches that all views have at one place, metres"),
    sways: z.boolean().describe("true: the views show the tree at different places"),
    aligned: z.boolean().describe("true: the model is of points of views that were moved onto each other"),
  })
  .meta({ id: "TreeViewFit", description: "whether a tree stood still between its scans" });
export type TreeViewFit = z.infer<typeof TreeViewFit>;

/** Answer of build and import; the tail of the streamed build. */
export const QsmBuildResponse = z.object({
  success: z.boolean().describe("false: the reason is in `error`"),
  cylinders: z.array(QsmCylinder).describe("base to tip, a parent before its children where the service built them"),
  shoots: z.array(QsmShoot).describe("runs of cylinders along one axis"),
  metrics: QsmMetrics.nullable().describe("null without a model"),
  view_fit: TreeViewFit.nullable()
    .default(null)
    .describe("whether its scans show one place; null with fewer than two, without a model, and for an imported QSM"),
  enlarged_by: z
    .number()
    .default(1)
    .describe(
      "factor by which a plant that spans less than 2.5 m was enlarged, to 3 m, while its model was made, so that lengths known of trees fit it; 1 = it was not, or there is no model, or it was imported",
    ),
  n_cylinders: z.int().describe("number of cylinders"),
  n_shoots: z.int().describe("number of shoots"),
  points_used: z.int().describe("0 for an imported QSM"),
  warnings: z.array(z.string()).default([]).describe("sentences for the user: what was left out or approximated"),
  error: z.string().nullable().describe("reason for the failure, a sentence for the user; null = success"),
});
export type QsmBuildResponse = z.infer<typeof QsmBuildResponse>;
