import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { ErrorText, Success, Warnings } from "./fields.ts";
import { PointList } from "./geometry.ts";
import { labelList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";
import { TilePlan } from "./tile-plan.ts";

export const DENOISE_METHODS = ["ror", "voxel_count", "sor", "auto"] as const;
export type DenoiseMethod = (typeof DENOISE_METHODS)[number];

/** What a point must have around it to be clean: the same for flat clouds and sessions. */
export const NoiseCriterion = z.object({
  method: checkedByService(z.string(), z.enum(DENOISE_METHODS))
    .default("ror")
    .describe(
      "ror: others within a radius; voxel_count: points in its cell; sor: mean distance to its neighbours; auto: small " +
        "clusters by the spacing around each point, takes no lengths; others: 400",
    ),
  radius: z
    .number()
    .nullish()
    .default(null)
    .describe("ror: metres, > 0; null = 3 times the 95 % spacing, 0.02 to 0.5; 0.05 where that cannot be measured"),
  nb_points: z.int().default(2).describe("ror: other points needed within the radius, its surface included"),
  voxel: z
    .number()
    .nullish()
    .default(null)
    .describe("voxel_count: cell edge, metres, > 0; null = 5 times the 95 % spacing, 0.02 to 0.5; 0.1 without one"),
  min_points: z.int().default(2).describe("voxel_count: points that a clean cell holds at least"),
  nb_neighbors: z.int().default(20).describe("sor: nearest other points looked at, 1 to 1000"),
  // 4, never 2: every pass makes sor more aggressive, and a second one at 2 destroys twigs.
  std_ratio: z.number().default(4).describe("sor: standard deviations above the mean that are still clean, > 0"),
});
export type NoiseCriterion = z.infer<typeof NoiseCriterion>;

export const DenoiseRequest = NoiseCriterion.extend({
  points: PointList.nullish().describe("(n, 3) metres, inline cloud"),
  source: PointSource.nullish().default(null).describe("takes precedence over points; max_points is ignored"),
  previously_denoised: z.boolean().default(false).describe("noise was removed from these points before"),
}).meta({ id: "DenoiseRequest" });
export type DenoiseRequest = z.infer<typeof DenoiseRequest>;

/** What was found, and by which numbers. */
export const NoiseReport = z.object({
  flagged: z.int().describe("points labelled noise"),
  kept: z.int().describe("points labelled clean"),
  fraction: z.number().describe("flagged / (flagged + kept); 0 for no points"),
  non_finite: z.int().describe("points with a coordinate that is no finite number; flagged"),
  over_removal: z.boolean().describe("fraction > 0.2: ask before removing"),
  warnings: Warnings,
  method: z.enum(DENOISE_METHODS).describe("the method that ran"),
  params_used: z.record(z.string(), z.number()).describe("what the method consumed, automatic values included"),
  spacing_m: z
    .number()
    .nullable()
    .describe("median distance to the nearest point elsewhere, metres; null = not measured"),
  spacing_p95_m: z.number().nullable().describe("its 95th percentile, metres"),
  elapsed_s: z.number().describe("duration of the computation, seconds"),
  stats: z
    .object({ tiled: TilePlan.optional().describe("how a large cloud was cut: ror and voxel_count alone") })
    .describe("how the computation ran"),
});
export type NoiseReport = z.infer<typeof NoiseReport>;

export const DenoiseResponse = NoiseReport.extend({
  success: Success,
  labels: labelList("1 clean, 2 noise"),
  num_points: z.int().describe("points that were labelled"),
  error: ErrorText,
}).meta({ id: "DenoiseResponse" });
export type DenoiseResponse = z.infer<typeof DenoiseResponse>;
