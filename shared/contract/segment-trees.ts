import { z } from "zod";
import { CostWarning } from "./cost-warning.ts";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { BulkNumbers, PointList } from "./geometry.ts";
import { wholeSource, withIdleKeys } from "./idle-keys.ts";
import { instanceList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";
import { TilePlan } from "./tile-plan.ts";

export const TREE_METHODS = ["default", "chm", "auto"] as const;
/** Another name of method default. */
export const DEFAULT_METHOD_ALIAS = "treeiso";
export type TreeMethod = (typeof TREE_METHODS)[number];

/** The published parameters of the cut-pursuit segmentation: Xi & Hopkinson 2022. */
export const DEFAULT_CUT_PURSUIT = {
  reg_strength1: 1,
  min_nn1: 5,
  decimate_res1: 0.05,
  reg_strength2: 15,
  min_nn2: 20,
  decimate_res2: 0.1,
  max_gap: 2,
  rel_height_length_ratio: 0.5,
  vertical_weight: 0.5,
  min_nn3: 20,
  score_candidate_thresh: 0.7,
  init_stem_rel_length_thresh: 1.5,
  max_outlier_gap: 3,
} as const;
export const DEFAULT_TILE_BUFFER_M = 10;

/** Defaults of the canopy height model. */
export const DEFAULT_CHM = { chm_min_height: 2, chm_crown_scale: 2.5 } as const;
export const CHM_CELLS_PER_SCALE = 12;
const CHM_CELL_PER_SPACING = 0.6;
export const CHM_CELL_LIMITS = [0.1, 1] as const;

/**
 * Cell of a canopy height model, metres: a share of the crown scale, or of the spacing of the points seen from above where
 * these are sparser (docs/adr/0057), within limits.
 */
export const chmCell = (crown_scale_m: number, spacing_m: number): number => {
  const [finest, coarsest] = CHM_CELL_LIMITS;
  const wanted = Math.max(crown_scale_m / CHM_CELLS_PER_SCALE, CHM_CELL_PER_SPACING * spacing_m);
  return Math.min(coarsest, Math.max(finest, wanted));
};

const wish = (type: z.ZodType<number>, meaning: string) => type.nullish().default(null).describe(meaning);

const published = (name: keyof typeof DEFAULT_CUT_PURSUIT, type: z.ZodType<number>, meaning: string) =>
  wish(type, `default: ${meaning}; null = ${DEFAULT_CUT_PURSUIT[name]}`);
const raised = "the published default is raised for clouds of 50000 points and more, see params";

/** Parameters of method default. */
const CutPursuitFields = {
  reg_strength1: published("reg_strength1", z.number(), "cost of a cut edge in stage 1, >= 0"),
  min_nn1: published("min_nn1", z.int(), "neighbours of a node in stage 1, 1..1000"),
  decimate_res1: published("decimate_res1", z.number(), `voxel of stage 1, metres, > 0; ${raised}`),
  reg_strength2: published("reg_strength2", z.number(), "cost of a cut edge in stage 2, >= 0"),
  min_nn2: published("min_nn2", z.int(), "neighbours of a node and of a segment in stage 2, 1..1000"),
  decimate_res2: published("decimate_res2", z.number(), `voxel of stage 2, metres, > 0; ${raised}`),
  max_gap: published("max_gap", z.number(), "segments at least this far apart are not grouped in stage 2, metres, > 0"),
  rel_height_length_ratio: published(
    "rel_height_length_ratio",
    z.number(),
    "stage 3: rise of a segment over its neighbours, as a fraction of its length, above which it is no stem, >= 0",
  ),
  vertical_weight: published("vertical_weight", z.number(), "weight of the overlap in height in stage 3, >= 0"),
  min_nn3: published("min_nn3", z.int(), "segments that each is compared with in stage 3, 1..1000"),
  score_candidate_thresh: published(
    "score_candidate_thresh",
    z.number(),
    "least share of the best score of a tree to merge with in stage 3, 0..1",
  ),
  init_stem_rel_length_thresh: published(
    "init_stem_rel_length_thresh",
    z.number(),
    "stage 3: stems are longer than this many times the median of their neighbours, >= 0",
  ),
  max_outlier_gap: published(
    "max_outlier_gap",
    z.number(),
    "vegetation this far from the rest is no part of the same tree, metres, > 0",
  ),
} as const;

/** Parameters of method chm; null = the default. */
const ChmFields = {
  chm_cell: wish(
    z.number(),
    `chm: edge of a cell of the canopy height model, metres, > 0; null = chm_crown_scale / ${CHM_CELLS_PER_SCALE}, or ${CHM_CELL_PER_SPACING} of the spacing of the points seen from above where that is more, clamped to ${CHM_CELL_LIMITS.join("..")}, or up to ${CHM_CELL_LIMITS[1]} where finer cells would be too many`,
  ),
  chm_min_height: wish(
    z.number(),
    `chm: lowest canopy above the ground, metres, >= 0; null = ${DEFAULT_CHM.chm_min_height}`,
  ),
  chm_crown_scale: wish(
    z.number(),
    `chm: about the width of the smaller crowns (not their spacing), metres, > 0: too small a value splits crowns, too large a value merges them; null = ${DEFAULT_CHM.chm_crown_scale}`,
  ),
} as const;

export const CUT_PURSUIT_FIELDS = Object.keys(CutPursuitFields) as readonly (keyof typeof CutPursuitFields)[];
export const CHM_FIELDS = Object.keys(ChmFields) as readonly (keyof typeof ChmFields)[];

/** Method and parameters of tree segmentation, for inline points and sessions. */
export const TreeFilter = z.object({
  method: checkedByService(z.string(), z.enum(TREE_METHODS))
    .default("default")
    .describe(
      `default (or ${DEFAULT_METHOD_ALIAS}): cut-pursuit segmentation (Xi & Hopkinson 2022), for scans from the ground; chm: crowns in a canopy height model, for airborne clouds; auto: stems, and cheapest paths from them, for scans from the ground, without parameters (those of default and chm: 400); any other value: 400`,
    ),
  ...ChmFields,
  ...CutPursuitFields,
});
export type TreeFilter = z.infer<typeof TreeFilter>;

const seeds = (frame: string) =>
  PointList.nullish().describe(
    `(s, 3) one place per tree, such as its stem at breast height, metres, ${frame}: seed k yields exactly tree k + 1; null or empty = none`,
  );

const TreesObject = TreeFilter.extend({
  points: PointList.nullish().describe("(n, 3) inline points, metres, z up"),
  source: PointSource.nullish()
    .default(null)
    .describe("points of a session; takes precedence over points; its max_points is ignored"),
  seed_points: seeds("frame of the points; of a source: world plus its translation"),
  ground_class: BulkNumbers.nullish().describe(
    "(n) class per point, 1 = ground: such points get 0; null = column ground_class of the source's session; without one unknown, and ground_warning is true",
  ),
  acknowledge_cost: z
    .boolean()
    .default(false)
    .describe("true: run without asking first (cost_warning) if the run is long or large"),
}).meta({ id: "TreesRequest" });
export const TreesRequest = withIdleKeys(TreesObject, wholeSource);
export type TreesRequest = z.infer<typeof TreesRequest>;

export const TILING = ["auto", "on", "off"] as const;
export type Tiling = (typeof TILING)[number];

/** Fields of the requests for sessions. */
export const SessionTreeFields = {
  seed_points: seeds("stored frame"),
  skip_noise: z
    .boolean()
    .default(true)
    .describe(
      "true: hits that column noise_class (2) or las_classification (7, 18) names as noise belong to no tree and get 0, which a warning counts",
    ),
  skip_structures: z
    .boolean()
    .default(true)
    .describe(
      "true: hits that las_classification names as a building (6), a wire guard, wire, tower or connector (13 to 16) or a bridge deck (17) belong to no tree and get 0, which a warning counts",
    ),
  tiling: z
    .enum(TILING)
    .default("auto")
    .describe(
      "default, auto: find trees tile by tile; auto = above 2000000 graph nodes (APP_TREE_MAX_NODES) with method default, above 50000000 points with both",
    ),
  tile_buffer_m: z
    .number()
    .default(DEFAULT_TILE_BUFFER_M)
    .describe("default, auto: width of the buffer around a tile, metres, > 0; must exceed the reach of a crown"),
} as const;

const TreeTiles = TilePlan.extend({
  tiled: z.literal(true).describe("true: found tile by tile"),
  tiles_run: z.int().describe("number of tiles in which trees were looked for"),
  trees_kept: z.int().describe("number of trees"),
  trees_truncated: z
    .int()
    .describe("number of trees that a buffer may have cut; repeat with a wider tile_buffer_m if there are any"),
  workers: z.int().describe("number of tiles at a time"),
  nodes: z.int().describe("number of graph nodes of the whole cloud"),
  decimate_res1: z.number().describe("voxel of stage 1, metres; auto: of its nodes"),
  decimate_res2: z.number().describe("voxel of stage 2, metres; auto: of its nodes"),
}).meta({ id: "TreeTiles" });
const Untiled = z
  .object({
    tiled: z.literal(false).describe("false: found at once"),
    stage1_collapsed: z
      .boolean()
      .describe("true: the first try of stage 1 gave one segment; params has the voxels of the try that counts"),
  })
  .meta({ id: "TreesUntiled" });
/** How a cloud was divided. */
export const TreeTiling = z.union([TreeTiles, Untiled]);
export type TreeTiling = z.infer<typeof TreeTiling>;

/** The canopy height model of a run. */
export const ChmReport = z
  .object({
    method: z.literal("chm").describe("the method"),
    cell: z.number().describe("edge of a cell, metres"),
    min_height: z.number().describe("lowest canopy above the ground, metres"),
    crown_scale: z.number().describe("width of the smaller crowns, metres"),
    smooth_sigma: z.number().describe("standard deviation of the smoothing, cells"),
    ground_source: z
      .enum(["ground_class", "lowest_return"])
      .describe("origin of the terrain: medians of the ground points, or the lowest returns"),
    num_trees: z.int().describe("number of trees"),
  })
  .meta({ id: "ChmReport" });

/** Result of tree segmentation and the parameters used. */
export const TreesReport = z.object({
  num_trees: z.int().describe("number of trees; instances are 1..num_trees"),
  method: z.enum(TREE_METHODS).describe("method used"),
  ground_warning: z.boolean().describe("true: no ground labels came with the points, so ground may be part of trees"),
  fusion_warning: z
    .string()
    .nullable()
    .describe(
      "a sentence if trees hold several stems, so that num_trees is probably too low; null = none, or method chm",
    ),
  chm: ChmReport.nullable().describe("the canopy height model; null = another method"),
  params: z
    .record(z.string(), z.number())
    .describe(
      "parameter values used, by name; auto: node_m, the edge of its voxels, and trunk_layer_min_m, trunk_layer_max_m, between which it looked for stems (metres above the ground): 1 to 2 m, lower where the trees are lower than 6.7 m",
    ),
  non_finite: z.int().describe("number of points with a non-finite coordinate; they are labelled 0"),
  warnings: Warnings,
  elapsed_s: z.number().describe("duration of the computation, seconds"),
});
export type TreesReport = z.infer<typeof TreesReport>;

export const TreesResponse = TreesReport.extend({
  success: Success,
  labels: instanceList("0 = no tree, else 1..num_trees"),
  num_points: z.int().describe("number of labelled points"),
  cost_warning: CostWarning.nullable().describe(
    "expected cost of a long or large run, which then did not start (success is false, error null); send the request again with acknowledge_cost; null = none",
  ),
  error: ErrorText,
  code: FailureCode,
}).meta({ id: "TreesResponse" });
export type TreesResponse = z.infer<typeof TreesResponse>;
