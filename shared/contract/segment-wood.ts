import { z } from "zod";
import { MAX_WOOD_SOURCES } from "../limits.ts";
import { CostWarning } from "./cost-warning.ts";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { BulkNumbers, PointList } from "./geometry.ts";
import { idleByAll, idleUnless, isSent, wholeSource, withIdleKeys } from "./idle-keys.ts";
import { labelList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";

/** Methods that need no model. */
export const SHAPE_METHODS = ["sota", "connectivity", "geometric"] as const;
export type ShapeMethod = (typeof SHAPE_METHODS)[number];
export const WOOD_METHODS = [...SHAPE_METHODS, "ml"] as const;
export type WoodMethod = (typeof WOOD_METHODS)[number];

/** Defaults of the parameters of wood segmentation. */
export const DEFAULT_WOOD = {
  wood_bias: 0.6,
  k_min: 10,
  k_max: 100,
  k_step: 10,
  reg_k: 20,
  reg_iters: 3,
  min_speckle: 0,
  branch_grow_sph: 0.02,
  backbone_support: 0,
  voxel_size: 0,
  reflectance_weight_max: 0.4,
} as const;

const field = (name: keyof typeof DEFAULT_WOOD, type: z.ZodType<number>, meaning: string) =>
  type.nullish().default(null).describe(`${meaning}; null = ${DEFAULT_WOOD[name]}`);

/** Parameters of the methods; null = the default. */
const WoodFields = {
  wood_bias: field("wood_bias", z.number(), "least probability of wood, 0..1: lower gives more wood"),
  k_min: field("k_min", z.int(), "smallest neighbourhood, in points with the point itself, 3..k_max"),
  k_max: field("k_max", z.int(), "largest neighbourhood, k_min..300"),
  k_step: field("k_step", z.int(), "difference of the neighbourhoods tried, from 1"),
  reg_k: field("reg_k", z.int(), "neighbours that labels are smoothed over, 1..300"),
  reg_iters: field("reg_iters", z.int(), "rounds of that smoothing, 0..100"),
  min_speckle: field("min_speckle", z.int(), "connected wood of fewer points becomes leaf; 0 = none"),
  branch_grow_sph: field(
    "branch_grow_sph",
    z.number(),
    "sphericity (least by largest variance of a neighbourhood) up to which elongated points beside wood join it, >= 0",
  ),
  backbone_support: field(
    "backbone_support",
    z.number(),
    "connectivity: fewest points that the skeleton carries beyond a node of its backbone, >= 0; 0 = the larger of 30 and 0.2 % of the points",
  ),
  voxel_size: field(
    "voxel_size",
    z.number(),
    "edge of voxels that are told apart instead of their points, metres, >= 0; 0 = none up to 1500000 points (APP_WOOD_MAX_POINTS; sota: at most 0.0175), above the finest that give about as many",
  ),
  reflectance_weight_max: field(
    "reflectance_weight_max",
    z.number(),
    "greatest weight of the reflectance, 0..1: the more the better it separates; it makes wood, never leaf; 0 = unused",
  ),
} as const;

export const WOOD_FIELDS = Object.keys(WoodFields) as readonly (keyof typeof WoodFields)[];

/** Method and parameters of wood segmentation, for inline points and sessions. */
export const WoodFilter = z.object({
  method: checkedByService(z.string(), z.enum(WOOD_METHODS))
    .default("sota")
    .describe(
      "sota: shapes over many sizes, averaged along the plant, and cylinders of its skeleton; geometric: the shape of one neighbourhood of each point; connectivity: geometric, and what is near the skeleton; ml: a network, which uses none of the parameters of shapes; any other value: 400",
    ),
  model_id: z
    .string()
    .nullish()
    .default(null)
    .describe(
      "ml: id of an installed model of the task wood_leaf (GET /api/ml/models); null = default_wood_model; not installed or of another task: 400",
    ),
  ...WoodFields,
});
export type WoodFilter = z.infer<typeof WoodFilter>;

const acknowledged = (how: string) =>
  z.boolean().default(false).describe(`true: run without asking first (${how}) if the run is long or large`);

const WoodObject = WoodFilter.extend({
  points: PointList.nullish().describe("(n, 3) inline points, metres, z up, without the ground"),
  source: PointSource.nullish()
    .default(null)
    .describe("points of a session; takes precedence over points; its max_points is ignored"),
  sources: z
    .array(PointSource)
    .nullish()
    .default(null)
    .describe(
      `points of several sessions, one after another, as one cloud in true world coordinates; takes precedence over source; at most ${MAX_WOOD_SOURCES}, more: 400`,
    ),
  reflectance: BulkNumbers.nullish().describe(
    "(n) of the inline points, any unit; null = unknown. Sessions bring their own, which counts only if every source has one",
  ),
  acknowledge_cost: acknowledged("cost_warning"),
}).meta({ id: "WoodRequest" });
export const WoodRequest = withIdleKeys(
  WoodObject,
  idleByAll(
    wholeSource,
    idleUnless(({ sources }) => !isSent(sources), "source"),
    idleUnless(({ source, sources }) => !isSent(source) && !isSent(sources), "reflectance"),
  ),
);
export type WoodRequest = z.infer<typeof WoodRequest>;

/** Fields of the requests for sessions. */
export const SessionWoodFields = {
  scalar_slug: z
    .string()
    .nullish()
    .default(null)
    .describe(
      "column with the reflectance, upper and lower case alike; null or unknown = reflectance, intensity among the scalar columns, else the intensity of the points, else none",
    ),
  skip_ground: z
    .boolean()
    .default(false)
    .describe(
      "true: hits that column ground_class labels as ground are no part of the plants: they are not analysed and get 0; an error without that column",
    ),
  defer_octree: z.boolean().default(false).describe("true: do not build the octree, which is then out of date"),
  acknowledge_cost: acknowledged("a 409 with a cost warning"),
} as const;

/** Result of wood segmentation and the parameters used. */
export const WoodReport = z.object({
  num_wood: z.int().describe("number of points labelled wood"),
  num_leaf: z.int().describe("number of points labelled leaf"),
  method: z.enum(WOOD_METHODS).describe("method used"),
  model_id: z.string().nullable().describe("ml: id of the model used; else null"),
  params: z.record(z.string(), z.number()).describe("parameter values used, by name; lengths in metres"),
  voxel_size: z.number().nullable().describe("edge of the voxels that were told apart, metres; null = all points were"),
  reflectance_weight: z.number().describe("weight of the reflectance, 0..reflectance_weight_max; 0 = unused"),
  reflectance_wood: z.int().describe("number of points that their reflectance made wood"),
  segments: z.int().describe("sota: number of segments of the skeleton with at least 15 points; else 0"),
  cylinders: z.int().describe("sota: number of these that are cylinders; else 0"),
  non_finite: z.int().describe("number of points with a non-finite coordinate; they are leaf"),
  warnings: Warnings,
  elapsed_s: z.number().describe("duration of the computation, seconds"),
});
export type WoodReport = z.infer<typeof WoodReport>;

export const WoodResponse = WoodReport.extend({
  success: Success,
  labels: labelList("1 = wood, 2 = leaf; of several sources one after another"),
  num_points: z.int().describe("number of labelled points"),
  source_counts: z.array(z.int()).describe("number of labels of each source, in order; inline points: one"),
  cost_warning: CostWarning.nullable().describe(
    "expected cost of a long or large run, which then did not start (success is false, error null); send the request again with acknowledge_cost; null = none",
  ),
  error: ErrorText,
  code: FailureCode,
}).meta({ id: "WoodResponse" });
export type WoodResponse = z.infer<typeof WoodResponse>;
