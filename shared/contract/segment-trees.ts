import { z } from "zod";
import { CostWarning } from "./cost-warning.ts";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { BulkNumbers, PointList } from "./geometry.ts";
import { instanceList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";

export const TREE_METHODS = ["chm"] as const;
export type TreeMethod = (typeof TREE_METHODS)[number];

/** Defaults of the canopy height model; the cell is a share of the crown scale, within limits. */
export const DEFAULT_CHM = { chm_min_height: 2, chm_crown_scale: 2.5 } as const;
export const CHM_CELLS_PER_SCALE = 12;
export const CHM_CELL_LIMITS = [0.1, 1] as const;

const wish = (type: z.ZodType<number>, meaning: string) => type.nullish().default(null).describe(meaning);

/** Parameters of method chm; null = the default. */
const ChmFields = {
  chm_cell: wish(
    z.number(),
    `chm: edge of a cell of the canopy height model, metres, > 0; null = chm_crown_scale / ${CHM_CELLS_PER_SCALE}, clamped to ${CHM_CELL_LIMITS.join("..")}, or up to ${CHM_CELL_LIMITS[1]} where finer cells would be too many`,
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

export const CHM_FIELDS = Object.keys(ChmFields) as readonly (keyof typeof ChmFields)[];

/** Method and parameters of tree segmentation, for inline points and sessions. */
export const TreeFilter = z.object({
  method: checkedByService(z.string(), z.enum(TREE_METHODS))
    .default("chm")
    .describe("chm: crowns in a canopy height model, for airborne clouds; any other value: 400"),
  ...ChmFields,
});
export type TreeFilter = z.infer<typeof TreeFilter>;

const seeds = (frame: string) =>
  PointList.nullish().describe(
    `(s, 3) one place per tree, such as its stem at breast height, metres, ${frame}: seed k yields exactly tree k + 1; null or empty = none`,
  );

export const TreesRequest = TreeFilter.extend({
  points: PointList.nullish().describe("(n, 3) inline points, metres, z up"),
  source: PointSource.nullish()
    .default(null)
    .describe("points of a session; takes precedence over points; its max_points is ignored"),
  seed_points: seeds("frame of the points; of a source: world plus its translation"),
  ground_class: BulkNumbers.nullish().describe(
    "(n) class per point, 1 = ground: such points get 0; null = unknown, and ground_warning is true",
  ),
  acknowledge_cost: z
    .boolean()
    .default(false)
    .describe("true: run without asking first (cost_warning) if the run is long or large"),
}).meta({ id: "TreesRequest" });
export type TreesRequest = z.infer<typeof TreesRequest>;

export const SessionTreeFields = {
  seed_points: seeds("stored frame"),
} as const;

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
  params: z.record(z.string(), z.number()).describe("parameter values used, by name"),
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
