import { z } from "zod";
import { SessionId, Warnings } from "../fields.ts";

/** The session needs the column height_above_ground. Rows that ground_class calls ground take no part. */
export const DetectStemsRequest = z
  .object({
    band_min_m: z
      .number()
      .default(1)
      .describe("lower end of the layer that is searched, metres above the ground, >= 0"),
    band_max_m: z.number().default(2).describe("upper end of the layer, metres above the ground, at most 1000"),
    max_diameter_m: z
      .number()
      .default(3)
      .describe(
        "largest diameter of a stem, metres, above 0.04, at most 8 counts; wider clusters of points are searched by parts. Stems wider than 3 m must be seen over half of their girth, and points within 3 % of the radius count for them",
      ),
    skip_noise: z
      .boolean()
      .default(true)
      .describe(
        "true: hits that column noise_class (2) or las_classification (7, 18) names as noise take no part, which a warning counts",
      ),
  })
  .meta({ id: "DetectStemsRequest" });
export type DetectStemsRequest = z.infer<typeof DetectStemsRequest>;

export const StemSeed = z
  .object({
    x: z.number().describe("axis of the stem at the height z, metres, stored frame"),
    y: z.number().describe("metres, stored frame"),
    z: z.number().describe("1.3 m above the ground at the foot of the stem, metres, stored frame"),
    radius_m: z.number().describe("radius of the circle across the axis, metres"),
    n_inliers: z
      .int()
      .describe(
        "number of points within 2 cm of that circle, or, of stems found as wider than 3 m, 3 % of its radius, in the whole layer",
      ),
    arc_coverage: z.number().describe("share of the circle that has points, 0..1, in sectors of 10 degrees"),
    radius_unknown: z
      .boolean()
      .describe(
        "true: the points are two columns alone, as a scan has them on a thin or far stem: radius_m is that of one of many circles through them, in most cases a small one, and the stem may be several times as thick",
      ),
  })
  .meta({ id: "StemSeed" });
export type StemSeed = z.infer<typeof StemSeed>;

const count = (meaning: string) => z.int().describe(meaning);

export const DetectStemsResponse = z
  .object({
    session_id: SessionId,
    seeds: z.array(StemSeed).describe("stems, those with the most inliers first; seeds of segment_trees"),
    layer_points: z
      .int()
      .describe("number of hits between band_min_m and band_max_m that are neither ground nor left out as noise"),
    clusters: z.int().describe("number of clusters of these hits, seen from above"),
    rejected: z
      .object({
        few_points: count("clusters of fewer than 20 points"),
        too_wide: count("clusters wider than max_diameter_m, or than 3 m, of which no part is a stem"),
        not_upright: count("clusters without points, or without points on the circle, at three of four heights"),
        no_circle: count(
          "clusters without 54 degrees of a circle of a radius from 0.02 m to half of max_diameter_m, at most 4 m",
        ),
        high_residual: count("clusters whose points scatter around the best circle: leaves, branches"),
        few_inliers: count(
          "clusters with hardly more points on the best circle than around it or inside it, or with points on few patches of it, as tufts of needles have",
        ),
        halves_differ: count("clusters whose lower and upper half have circles that are not on one axis"),
        merged: count("stems closer than max(0.3 m, sum of the radii) to a seed with more inliers"),
      })
      .describe("how many clusters have no stem, by the reason of the attempt that came furthest"),
    params: z
      .object({
        band_min_m: z.number().describe("metres"),
        band_max_m: z.number().describe("metres"),
        max_diameter_m: z.number().describe("metres"),
      })
      .describe("the parameters of the run"),
    warnings: Warnings.describe(
      "among others: why there is no seed, or fewer seeds than clusters that scatter, and what to do",
    ),
  })
  .meta({ id: "DetectStemsResponse" });
export type DetectStemsResponse = z.infer<typeof DetectStemsResponse>;
