import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { ErrorText, Success, Warnings } from "./fields.ts";
import { PointList } from "./geometry.ts";
import { labelList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";
import { TilePlan } from "./tile-plan.ts";

export const GROUND_METHODS = ["cloth", "smrf", "auto"] as const;
export type GroundMethod = (typeof GROUND_METHODS)[number];

/** Most time steps of the cloth unless the request says. */
export const DEFAULT_CLOTH_ITERATIONS = 500;
/** One parameter set for all clouds: Pingel et al. 2013, table 4. */
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

/** Cloth simulation. What is null is derived from the cloud: docs/adr/0014. */
const ClothFields = {
  cloth_resolution: wish(
    z.number(),
    "cloth: metres between particles, > 0; null = twice the point spacing, 0.1 to 0.5 or half the spacing, or the finest that fits",
  ),
  rigidness: wish(z.int(), "cloth: 1 conforming .. 3 stiff; null = 3, where the ground is steeper than 10 degrees 1"),
  class_threshold: wish(
    z.number(),
    "cloth: metres, > 0; a point nearer to the cloth is ground; null = half the point spacing, 0.08 to 0.5",
  ),
  iterations: wish(z.int(), `cloth: most time steps, 1 to 10000; null = ${DEFAULT_CLOTH_ITERATIONS}`),
  slope_smooth: flag(
    "cloth: fit steep slopes after it has settled; null = where the ground is steeper than 10 degrees",
  ),
  auto_class_threshold: flag(
    "cloth: measure the threshold on the settled cloth; class_threshold is used where it cannot be; null = false",
  ),
} as const;

/** Simple morphological filter; null = the published value. */
const SmrfFields = {
  cell_size: wish(z.number(), `smrf: metres, > 0; null = ${DEFAULT_SMRF.cell_size}`),
  slope: wish(z.number(), `smrf: steepest ground, metres per metre, >= 0; null = ${DEFAULT_SMRF.slope}`),
  window_radius: wish(
    z.number(),
    `smrf: metres, cell_size to 200 cells; objects up to twice as wide are taken off; null = ${DEFAULT_SMRF.window_radius}`,
  ),
  elevation_threshold: wish(
    z.number(),
    `smrf: metres, > 0; ground is nearer to the provisional surface; null = ${DEFAULT_SMRF.elevation_threshold}`,
  ),
  elevation_scale: wish(
    z.number(),
    `smrf: metres added to the threshold per m/m of slope, >= 0; null = ${DEFAULT_SMRF.elevation_scale}`,
  ),
  net_spacing: wish(
    z.number(),
    `smrf: metres between the lines of a net that cuts large objects, >= 0; 0 = no net; null = ${DEFAULT_SMRF.net_spacing}`,
  ),
} as const;

export const CLOTH_FIELDS = Object.keys(ClothFields) as readonly (keyof typeof ClothFields)[];
export const SMRF_FIELDS = Object.keys(SmrfFields) as readonly (keyof typeof SmrfFields)[];

/** How ground is told from plants: the same for flat clouds and sessions. Fields of another method are refused. */
export const GroundFilter = z.object({
  method: checkedByService(z.string(), z.enum(GROUND_METHODS))
    .default("cloth")
    .describe(
      "cloth: simulated cloth; smrf: simple morphological filter; auto: seeds grown, without parameters; others: 400",
    ),
  ...ClothFields,
  ...SmrfFields,
});
export type GroundFilter = z.infer<typeof GroundFilter>;

export const GroundRequest = GroundFilter.extend({
  points: PointList.nullish().describe("(n, 3) metres, z up, inline cloud"),
  source: PointSource.nullish().default(null).describe("takes precedence over points; max_points is ignored"),
}).meta({ id: "GroundRequest" });
export type GroundRequest = z.infer<typeof GroundRequest>;

export const THRESHOLD_METHODS = ["manual", "derived", "knee", "tail", "fallback", "auto (sampled)"] as const;

/** What was found, and by which numbers. */
export const GroundReport = z.object({
  num_ground: z.int().describe("points labelled 1"),
  num_plant: z.int().describe("points labelled 2"),
  non_finite: z.int().describe("points with a coordinate that is no finite number; labelled 2"),
  low_outliers: z.int().describe("points below the ground that were set aside before the surface was made"),
  class_threshold_used: z
    .number()
    .nullable()
    .describe("metres; smrf: elevation_threshold, slope adds to it; null on failure"),
  class_threshold_method: z
    .enum(THRESHOLD_METHODS)
    .nullable()
    .describe(
      "manual: the request's, or published; derived: from the cloud; knee, tail: measured on the cloth, auto (sampled): " +
        "so in a tiled run; fallback: to be measured and not measurable; null on failure",
    ),
  method: z.enum(GROUND_METHODS).describe("the method that ran"),
  params_used: z.record(z.string(), z.union([z.number(), z.boolean()])).describe("what the method consumed"),
  params_derived: z.array(z.string()).describe("those of params_used that were derived from the cloud"),
  point_spacing_m: z.number().nullable().describe("sqrt(occupied area / points), metres; null = not measured"),
  steepness: z
    .number()
    .nullable()
    .describe("90th percentile of the ground's slope, metres per metre; null = not measured"),
  tiled: TilePlan.nullable().describe("how a large cloud was cut; null = it was not"),
  warnings: Warnings,
  elapsed_s: z.number().describe("duration of the computation, seconds"),
});
export type GroundReport = z.infer<typeof GroundReport>;

export const GroundResponse = GroundReport.extend({
  success: Success,
  labels: labelList("1 ground, 2 plant"),
  num_points: z.int().describe("points that were labelled"),
  error: ErrorText,
}).meta({ id: "GroundResponse" });
export type GroundResponse = z.infer<typeof GroundResponse>;
