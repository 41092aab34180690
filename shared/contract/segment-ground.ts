import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { PointList } from "./geometry.ts";
import { GroundFrame } from "./ground-frame.ts";
import { GroundLayers } from "./ground-layers.ts";
import { wholeSource, withIdleKeys } from "./idle-keys.ts";
import { labelList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";
import { TilePlan } from "./tile-plan.ts";

export const GROUND_METHODS = ["cloth", "smrf", "auto", "las_classification"] as const;
export type GroundMethod = (typeof GROUND_METHODS)[number];

/** Maximum number of cloth time steps, unless the request gives one. */
export const DEFAULT_CLOTH_ITERATIONS = 500;
/** The parameter set for all kinds of cloud from Pingel et al. 2013, table 4. */
export const DEFAULT_SMRF = {
  cell_size: 1,
  slope: 0.15,
  window_radius: 18,
  elevation_threshold: 0.5,
  elevation_scale: 1.25,
  net_spacing: 0,
} as const;

const wish = (type: z.ZodType<number>, meaning: string) => type.nullish().default(null).describe(meaning);
const flag = (meaning: string) => z.boolean().nullish().default(null).describe(meaning);

/** Parameters of the cloth simulation. A null value is derived from the cloud, see docs/adr/0014. */
const ClothFields = {
  cloth_resolution: wish(
    z.number(),
    "cloth: distance between particles, metres, > 0; null = twice the point spacing, at least 0.1 and at most the larger of 0.5 and half the spacing, or the finest that is possible",
  ),
  rigidness: wish(
    z.int(),
    "cloth: stiffness, 1 (soft) to 3 (stiff); null = 1 if the ground is steeper than 10 degrees, otherwise 3",
  ),
  class_threshold: wish(
    z.number(),
    "cloth: points closer to the cloth than this are ground, metres, > 0; null = half the point spacing, clamped to 0.08..0.5",
  ),
  iterations: wish(z.int(), `cloth: maximum number of time steps, 1..10000; null = ${DEFAULT_CLOTH_ITERATIONS}`),
  slope_smooth: flag(
    "cloth: fit the settled cloth to steep slopes; null = only if the ground is steeper than 10 degrees",
  ),
  auto_class_threshold: flag(
    "cloth: measure the threshold on the settled cloth, and use class_threshold if that is not possible; null = false",
  ),
  ignore_low_outliers: flag(
    "cloth: leave points below the ground out before the cloth drops; false = the published filter on all points, which they then hold up; null = true",
  ),
} as const;

/** Parameters of the simple morphological filter; null = the published value. */
const SmrfFields = {
  cell_size: wish(z.number(), `smrf: edge of a grid cell, metres, > 0; null = ${DEFAULT_SMRF.cell_size}`),
  slope: wish(z.number(), `smrf: maximum slope of the ground, metres per metre, >= 0; null = ${DEFAULT_SMRF.slope}`),
  window_radius: wish(
    z.number(),
    `smrf: radius of the largest window, metres, 1..200 cells; objects up to twice as wide are removed; null = ${DEFAULT_SMRF.window_radius}`,
  ),
  elevation_threshold: wish(
    z.number(),
    `smrf: points closer to the provisional surface than this are ground, metres, > 0; null = ${DEFAULT_SMRF.elevation_threshold}`,
  ),
  elevation_scale: wish(
    z.number(),
    `smrf: increase of elevation_threshold with the slope, metres per (metre per metre), >= 0; null = ${DEFAULT_SMRF.elevation_scale}`,
  ),
  net_spacing: wish(
    z.number(),
    `smrf: distance between the lines of a net that cuts large objects, metres, >= 0; 0 = no net; null = ${DEFAULT_SMRF.net_spacing}`,
  ),
} as const;

/** The class of ground in LAS files. */
export const LAS_GROUND = 2;

const FileFields = {
  ground_classes: z
    .array(z.int())
    .nullish()
    .default(null)
    .describe(
      `las_classification: classes 0 to 255 that are ground, at least one: 2 ground, 8 model key-points before LAS 1.4, 9 water, 11 road surface; null = [${LAS_GROUND}]`,
    ),
} as const;

export const CLOTH_FIELDS = Object.keys(ClothFields) as readonly (keyof typeof ClothFields)[];
export const SMRF_FIELDS = Object.keys(SmrfFields) as readonly (keyof typeof SmrfFields)[];

/**
 * Method and parameters of ground detection, for inline points and sessions. Parameters of other methods are rejected.
 */
export const GroundFilter = z.object({
  method: checkedByService(z.string(), z.enum(GROUND_METHODS))
    .nullish()
    .default(null)
    .describe(
      "cloth: cloth simulation (Zhang et al. 2016); smrf: simple morphological filter; auto: grows ground from seed points, without parameters; las_classification: the ground that the file labels itself, of sessions and sources whose points have classes; any other value: 400; null = cloth if the request has a cloth parameter, otherwise auto",
    ),
  ...ClothFields,
  ...SmrfFields,
  ...FileFields,
  skip_images: flag(
    "true: points that a level surface mirrors (still water, wet or polished floors) are no ground and do not change it; they are labelled plant, which `mirrors` and a warning tell; false = they take part; all methods but las_classification, which keeps the labels of the file; null = true",
  ),
  frame: GroundFrame.nullish()
    .default(null)
    .describe(
      "measures of the cloud that these points are a part of, from `frame` of a response of method auto: places of cells, thresholds and the slope of the terrain are taken from it, so that parts are labelled like the whole; all methods but las_classification; null = measured in these points",
    ),
});
export type GroundFilter = z.infer<typeof GroundFilter>;

const GroundObject = GroundFilter.extend({
  points: PointList.nullish().describe("(n, 3) inline points, metres, z up"),
  source: PointSource.nullish()
    .default(null)
    .describe("points of a session; takes precedence over points; its max_points is ignored"),
}).meta({ id: "GroundRequest" });
export const GroundRequest = withIdleKeys(GroundObject, wholeSource);
export type GroundRequest = z.infer<typeof GroundRequest>;

export const THRESHOLD_METHODS = ["manual", "derived", "knee", "tail", "fallback", "auto (sampled)"] as const;

/** Result of ground detection and the parameters used. */
export const GroundReport = z.object({
  num_ground: z.int().describe("number of points labelled 1 (ground)"),
  num_plant: z.int().describe("number of points labelled 2 (plant)"),
  non_finite: z.int().describe("number of points with a non-finite coordinate; they are labelled 2"),
  low_outliers: z
    .int()
    .describe("number of points below the ground that were excluded before the surface was computed"),
  ground_layers: GroundLayers.nullable().describe(
    "the ground, seen once more at another height, as scans leave it that were put together at wrong heights; null: there is one layer",
  ),
  mirrors: z
    .array(
      z.object({
        z: z.number().describe("height of the surface, metres, within about 0.1 m"),
        image_count: z.int().describe("number of points below it that it showed"),
        depth_m: z.number().describe("how far the deepest of them lies below it, metres"),
        x: z.array(z.number()).length(2).describe("least and greatest x of these points, metres"),
        y: z.array(z.number()).length(2).describe("least and greatest y of these points, metres"),
      }),
    )
    .describe(
      "level surfaces that mirror what stands above them, as still water does, with the points that are such images; in the stored frame; empty with skip_images false",
    ),
  hidden_ground: z
    .number()
    .nullable()
    .describe(
      "auto: share of the area where no layer of ground returns was seen within 1 m, 0..1; above 0.25 a warning follows; null = not measured (other methods, and clouds with few returns per cell)",
    ),
  ground_noise_m: z
    .number()
    .nullable()
    .describe(
      "auto: standard deviation of the returns of bare ground, metres; points within three times that of the middle of their layer are ground; above 0.058 a warning follows; null = not measured (other methods, fewer than 16 points per m2, or too little bare ground)",
    ),
  ground_residual_m: z
    .number()
    .nullable()
    .describe(
      "median vertical distance of a ground point from the plane through the ten nearest others, seen from above, metres: noise and roughness where they form a surface; from 0.15 (and a tenth of the mean distance of ground points) on a warning follows, as where the ground is not in the cloud; null = fewer than 100 ground points",
    ),
  class_threshold_used: z
    .number()
    .nullable()
    .describe(
      "threshold used, metres; smrf: elevation_threshold, to which the slope adds; null on failure, and of las_classification",
    ),
  class_threshold_method: z
    .enum(THRESHOLD_METHODS)
    .nullable()
    .describe(
      "origin of the threshold. manual: from the request, or the published value; derived: from the point spacing; " +
        "knee, tail: measured on the cloth; auto (sampled): measured in a tiled run; fallback: could not be measured; " +
        "null on failure, and of las_classification",
    ),
  method: z.enum(GROUND_METHODS).describe("method used"),
  auto_disagreement: z
    .number()
    .nullable()
    .describe(
      "share of the points that method auto labels differently, 0..1; above 0.05 (cloth; a warning recommends auto) and 0.25 (las_classification) it is told; null = not compared (only these two are)",
    ),
  params_used: z.record(z.string(), z.union([z.number(), z.boolean()])).describe("parameter values used, by name"),
  params_derived: z.array(z.string()).describe("names of the params_used that were derived from the cloud"),
  point_spacing_m: z
    .number()
    .nullable()
    .describe("point spacing: sqrt(occupied area / number of points), metres; null = not measured"),
  steepness: z
    .number()
    .nullable()
    .describe("90th percentile of the ground slope, metres per metre; null = not measured"),
  tiled: TilePlan.nullable().describe("tiles of a large cloud; null = not tiled"),
  warnings: Warnings,
  frame: GroundFrame.nullable().describe(
    "auto: the measures that the labels were made with, for `frame` of requests for parts of the same cloud, in the same coordinates; null for other methods",
  ),
  elapsed_s: z.number().describe("duration of the computation, seconds"),
});
export type GroundReport = z.infer<typeof GroundReport>;

export const GroundResponse = GroundReport.extend({
  success: Success,
  labels: labelList("1 ground, 2 plant"),
  num_points: z.int().describe("number of labelled points"),
  error: ErrorText,
  code: FailureCode,
}).meta({ id: "GroundResponse" });
export type GroundResponse = z.infer<typeof GroundResponse>;
