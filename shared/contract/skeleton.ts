import { z } from "zod";
import { MAX_SKELETON_LEVELS, MAX_SKELETON_NEIGHBORS, MAX_SKELETON_SMOOTHING } from "../limits.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { Point, PointList } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";
import { PointSource } from "./point-source.ts";

const SkeletonFields = z
  .object({
    points: PointList.nullish().default(null).describe("(n, 3) inline points of one plant, metres, z up"),
    source: PointSource.nullish()
      .default(null)
      .describe("points of a cloud session instead of inline points, which are not read then"),
    remove_outliers: z.boolean().default(true).describe("statistical outlier removal first"),
    outlier_nb_neighbors: z
      .int()
      .min(1)
      .max(MAX_SKELETON_NEIGHBORS)
      .default(20)
      .describe("neighbours of the outlier removal"),
    outlier_std_ratio: z
      .number()
      .positive()
      .default(2)
      .describe("points are kept up to mean + ratio * standard deviation of the mean distances to these neighbours"),
    search_radius: z
      .number()
      .max(1e6)
      .nullish()
      .default(0.05)
      .describe(
        "longest edge of the graph, metres; null or below 0.001 = automatic: 2.5 * mean distance of 500 points to their nearest one",
      ),
    max_neighbors: z
      .int()
      .min(1)
      .max(MAX_SKELETON_NEIGHBORS)
      .default(20)
      .describe("nearest points that a point is linked to; others may link to it, too"),
    root_threshold: z
      .number()
      .min(0)
      .max(1e6)
      .default(0.02)
      .describe("points less than this above the lowest one are roots, metres"),
    quantization_levels: z.int().min(2).max(MAX_SKELETON_LEVELS).default(60).describe("number of level sets"),
    use_nonlinear_quantization: z
      .boolean()
      .default(true)
      .describe("levels by the square root of the hops from the roots; false: by the hops"),
    threshold_filter: z.int().min(0).default(30).describe("fewest points of a block"),
    use_proportion_filter: z.boolean().default(true).describe("also compare a block with its parent"),
    proportion_threshold: z
      .number()
      .min(0)
      .max(1)
      .default(0.1)
      .describe("fewest points of a block, as a share of its parent's"),
    smooth_skeleton: z.boolean().default(true).describe("smooth the skeleton"),
    smoothing_iterations: z
      .int()
      .min(0)
      .max(MAX_SKELETON_SMOOTHING)
      .default(2)
      .describe("rounds in which a node with two neighbours becomes the mean of the three"),
    recenter: z
      .boolean()
      .default(true)
      .describe(
        "true: skeleton_points lie on the axes of cylinders fitted to the points, and ends at the tips; false: at the centroids of the blocks",
      ),
    dominant_axis: z.string().max(100).default("z").describe("not used; returned as it is"),
  })
  .meta({ id: "SkeletonRequest", description: "the points of a plant, and how to find its skeleton" });
export const SkeletonRequest = withIdleKeys(
  SkeletonFields,
  idleByAll(
    () => ["dominant_axis"],
    idleUnless(({ remove_outliers }) => remove_outliers !== false, "outlier_nb_neighbors", "outlier_std_ratio"),
    idleUnless(({ use_proportion_filter }) => use_proportion_filter !== false, "proportion_threshold"),
    idleUnless(({ smooth_skeleton }) => smooth_skeleton !== false, "smoothing_iterations"),
    idleUnless(({ source }) => !isSent(source), "points"),
  ),
);
export type SkeletonRequest = z.infer<typeof SkeletonRequest>;

export const SkeletonBlock = z
  .object({
    block_id: z.int().describe("index in `blocks`"),
    center: Point.describe("centroid of its points, metres"),
    quantized_level: z.int().describe("level set, 0 .. quantization_levels - 1"),
    num_points: z.int().describe("number of its points"),
    parent_block_id: z.int().nullable().describe("block towards the base; null: the base"),
    child_block_ids: z.array(z.int()).describe("blocks away from the base"),
  })
  .meta({ id: "SkeletonBlock", description: "a connected piece of a level set" });
export type SkeletonBlock = z.infer<typeof SkeletonBlock>;

export const SkeletonResponse = z
  .object({
    success: Success,
    skeleton_points: z.array(Point).describe("(num_nodes) nodes by level, metres, true world"),
    skeleton_edges: z
      .array(z.tuple([z.int(), z.int()]))
      .describe("(num_edges) [parent, child], indices into skeleton_points; a tree"),
    branch_orders: z.array(z.int()).describe("(num_nodes) Strahler order of each node, 1 = tip"),
    total_length: z.number().describe("sum of the lengths of the edges, metres"),
    num_nodes: z.int().describe("number of nodes"),
    num_edges: z.int().describe("number of edges"),
    num_branches: z.int().describe("nodes with more than two neighbours"),
    max_branch_order: z.int().describe("largest Strahler order"),
    blocks: z.array(SkeletonBlock).describe("blocks kept, by level"),
    points_before_filtering: z.int().describe("finite points"),
    points_after_filtering: z.int().describe("points left by the outlier removal"),
    num_blocks_before_filter: z.int().describe("blocks found"),
    num_blocks_after_filter: z.int().describe("blocks kept"),
    dominant_axis: z.string().describe("as in the request"),
    slice_thickness: z.literal(0).describe("always 0"),
    num_slices: z.int().describe("the same as num_nodes"),
    diameters: z.null().describe("always null"),
    search_radius: z.number().describe("longest edge of the graph that was used, metres; 0 = none was built"),
    points_reached: z.int().describe("points that the search from the base reached; the others are left out"),
    warnings: Warnings,
    error: ErrorText,
    code: FailureCode,
  })
  .meta({ id: "SkeletonResponse", description: "topological skeleton of a plant" });
export type SkeletonResponse = z.infer<typeof SkeletonResponse>;
