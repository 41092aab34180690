import { z } from "zod";
import { checkedByService } from "./documented.ts";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { PointList } from "./geometry.ts";
import { wholeSource, withIdleKeys } from "./idle-keys.ts";
import { labelList } from "./label-list.ts";
import { PointSource } from "./point-source.ts";
import { TilePlan } from "./tile-plan.ts";

export const DENOISE_METHODS = ["ror", "voxel_count", "sor", "auto"] as const;
export type DenoiseMethod = (typeof DENOISE_METHODS)[number];

/** Criterion that separates clean points from noise; the same for inline points and sessions. */
export const NoiseCriterion = z.object({
  method: checkedByService(z.string(), z.enum(DENOISE_METHODS))
    .default("ror")
    .describe(
      "criterion by which points are noise. ror: too few points within a radius; voxel_count: too few points in the " +
        "cell; sor: large mean distance to the nearest neighbours; auto: clusters of up to 16 points that are far " +
        "from the rest, judged by the local spacing and their extent, without parameters; of a session whose beam origins " +
        "are known, also mixed pixels: points in the air between a near edge and what is behind it; any other value: 400",
    ),
  radius: z
    .number()
    .nullish()
    .default(null)
    .describe(
      "ror: search radius, metres, > 0; null = 3 * spacing_p95_m, clamped to 0.02..0.5 (no upper limit if 1.5 * spacing_p95_m exceeds 0.5, as in airborne scans), or 0.05 if the spacing cannot be measured",
    ),
  nb_points: z
    .int()
    .default(2)
    .describe("ror: number of other points that a clean point has within the radius, boundary included"),
  voxel: z
    .number()
    .nullish()
    .default(null)
    .describe(
      "voxel_count: edge of a cell, metres, > 0; null = 5 * spacing_p95_m, clamped to 0.02..0.5 (no upper limit if 1.5 * spacing_p95_m exceeds 0.5, as in airborne scans), or 0.1 if the spacing cannot be measured",
    ),
  min_points: z.int().default(2).describe("voxel_count: minimum number of points in a clean cell"),
  nb_neighbors: z.int().default(20).describe("sor: number of nearest neighbours, 1..1000"),
  // 4, never 2: every pass makes sor more aggressive, and a second one at 2 destroys twigs.
  std_ratio: z
    .number()
    .default(4)
    .describe(
      "sor: a point is noise if its mean distance exceeds the average by more than this many standard deviations, > 0",
    ),
});
export type NoiseCriterion = z.infer<typeof NoiseCriterion>;

const DenoiseObject = NoiseCriterion.extend({
  points: PointList.nullish().describe("(n, 3) inline points, metres"),
  source: PointSource.nullish()
    .default(null)
    .describe("points of a session; takes precedence over points; its max_points is ignored"),
  previously_denoised: z.boolean().default(false).describe("true: noise was already removed from these points"),
}).meta({ id: "DenoiseRequest" });
export const DenoiseRequest = withIdleKeys(DenoiseObject, wholeSource);
export type DenoiseRequest = z.infer<typeof DenoiseRequest>;

const MixedPixels = z
  .object({
    searched: z.boolean().describe("false: a warning says why mixed pixels were not looked for"),
    flagged: z.int().describe("points labelled noise as mixed pixels; the others are clusters"),
    not_judged: z
      .int()
      .describe("points that were left out: without a beam origin, or where the beams are too far apart"),
    inconsistent_share: z
      .number()
      .describe("share of sampled points that contradict the beam origins; above 0.01 nothing is searched"),
  })
  .describe("search for mixed pixels; auto with known beam origins only");

/** Result of noise detection and the parameters used. */
export const NoiseReport = z.object({
  flagged: z.int().describe("number of points labelled noise"),
  kept: z.int().describe("number of points labelled clean"),
  fraction: z.number().describe("flagged / (flagged + kept); 0 without points"),
  non_finite: z.int().describe("number of points with a non-finite coordinate; they are labelled noise"),
  over_removal: z.boolean().describe("true: fraction > 0.2; ask the user before removing the noise"),
  warnings: Warnings,
  method: z.enum(DENOISE_METHODS).describe("method used"),
  params_used: z.record(z.string(), z.number()).describe("parameter values used, including derived ones, by name"),
  spacing_m: z
    .number()
    .nullable()
    .describe("median distance to the nearest point at a different position, metres; null = not measured"),
  spacing_p95_m: z.number().nullable().describe("95th percentile of that distance, metres; null = not measured"),
  elapsed_s: z.number().describe("duration of the computation, seconds"),
  stats: z
    .object({
      tiled: TilePlan.optional().describe("tiles of a large cloud, with ror and voxel_count only"),
      mixed_pixels: MixedPixels.optional(),
    })
    .describe("statistics of the computation"),
});
export type NoiseReport = z.infer<typeof NoiseReport>;

export const DenoiseResponse = NoiseReport.extend({
  success: Success,
  labels: labelList("1 clean, 2 noise"),
  num_points: z.int().describe("number of labelled points"),
  error: ErrorText,
  code: FailureCode,
}).meta({ id: "DenoiseResponse" });
export type DenoiseResponse = z.infer<typeof DenoiseResponse>;
