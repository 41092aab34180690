import { z } from "zod";
import { checkedByService } from "../documented.ts";
import { FailureCode, Warnings } from "../fields.ts";
import { AlignScans, QsmParams } from "../qsm.ts";
import { QsmCylinder, QsmMetrics, QsmShoot, TreeViewFit } from "../qsm-records.ts";

/** Limits of max_points_per_tree. */
export const TREE_QSM_POINTS = { least: 1_000, most: 500_000, usual: 60_000 } as const;

const { least, most, usual } = TREE_QSM_POINTS;

export const TreeQsmRequest = QsmParams.extend({
  tree_ids: z.array(z.int().min(0)).nullish().default(null).describe("values of tree_instance; null = all above 0"),
  max_points_per_tree: checkedByService(z.number(), z.int().min(least).max(most))
    .default(usual)
    .describe(
      `trees with more points are thinned by voxels to at most so many, ${least}..${most}; otherwise the tail reports a failure`,
    ),
  wood_only: z
    .boolean()
    .default(true)
    .describe("true: use only points with wood_class 1; a session without that column: all, and a warning"),
  skip_noise: z
    .boolean()
    .default(true)
    .describe(
      "true: hits that column noise_class (2) or las_classification (7, 18) names as noise belong to no model, which a warning counts",
    ),
  align_scans: AlignScans,
  include_models: z.boolean().default(true).describe("true: return cylinders and shoots"),
}).meta({ id: "TreeQsmRequest" });
export type TreeQsmRequest = z.infer<typeof TreeQsmRequest>;

export const TreeQsmResult = z
  .object({
    tree_id: z.int().describe("value of tree_instance"),
    success: z.boolean().describe("false: there is no model, and error tells why"),
    error: z.string().nullable().describe("why this tree has no model; null = it has one"),
    code: FailureCode,
    points_in_tree: z.int().describe("hits of the tree after the filters of wood and noise, before thinning"),
    points_used: z.int().describe("points that the model was built from; 0 without a build"),
    voxel_m: z.number().nullable().describe("edge of the voxels that thinned it, metres; null = not thinned"),
    wood_only: z.boolean().describe("only points with wood_class 1 were used"),
    n_cylinders: z.int().describe("0 without a model"),
    n_shoots: z.int().describe("0 without a model"),
    metrics: QsmMetrics.nullable().describe("null without a model"),
    view_fit: TreeViewFit.nullable().describe("null with fewer than two views, or without a model"),
    enlarged_by: z
      .number()
      .describe(
        "factor by which a plant that spans less than 2.5 m was enlarged, to 3 m, while its model was made, so that lengths known of trees fit it; 1 = it was not, or there is no model",
      ),
    base_gap_m: z
      .number()
      .nullable()
      .describe(
        "height of the lowest points of the stem above the ground, metres: the stem was drawn out to it, by up to 1 m (from 0.3 m on a warning tells it; both divided by enlarged_by); null = no heights (column height_above_ground of POST dem), or without a model",
      ),
    cut_width_m: z
      .number()
      .describe(
        "length of the border of the cloud along which the tree ends because the cloud was cut there, metres: its model lacks what lies beyond, and volumes have no intervals; 0 = none is seen",
      ),
    cut_top: z.boolean().describe("true: it ends so at a level plane above"),
    warnings: Warnings.optional(),
    cylinders: z.array(QsmCylinder).optional().describe("true world, metres; with include_models"),
    shoots: z.array(QsmShoot).optional().describe("with include_models"),
  })
  .meta({ id: "TreeQsmResult", description: "model of one tree" });
export type TreeQsmResult = z.infer<typeof TreeQsmResult>;

/** JSON tail of tree_qsm. */
export const TreeQsmTail = z
  .object({
    success: z.boolean().describe("true: the run came to its end, even if every tree failed"),
    results: z.array(TreeQsmResult).describe("one per tree, ascending tree_id"),
    warnings: Warnings,
    error: z.string().nullable().describe("why the run did not come to its end; null = success"),
    code: FailureCode,
  })
  .meta({ id: "TreeQsmTail", description: "models of the trees of a session" });
export type TreeQsmTail = z.infer<typeof TreeQsmTail>;
