import { z } from "zod";
import { LooseTriple } from "./geometry.ts";

/**
 * Selects the points of a cloud session for a computation. Steps, in order: take the points that were not deleted, drop
 * misses, add the world shift, apply the stride, add the translation. The result is float64 in true world coordinates,
 * metres.
 */
export const PointSource = z
  .object({
    session_id: z.string().nullish().default(null).describe("open session; its points that were not deleted are used"),
    max_points: z
      .int()
      .nullish()
      .default(null)
      .describe("maximum number of points: every ceil(n / max_points)-th point is used; null or <= 0 = all"),
    translation: LooseTriple.nullish()
      .default(null)
      .describe("(3) metres, added after the world shift; any other length: 400"),
    want_colors: z.boolean().default(false).describe("also read colors and intensity, both 0..1"),
    source_path: z.string().nullish().default(null).describe("origin of the points, for information only; never read"),
    ascii_format: z.string().nullish().default(null).describe("column names of a text file, separated by spaces"),
    include_misses: z.boolean().default(false).describe("keep misses (sky points); exports always keep them"),
    want_extras: z.boolean().default(false).describe("also read the scalar columns"),
    allow_file_source: z
      .boolean()
      .default(false)
      .describe("reserved: this service only reads sessions and rejects a source without one"),
  })
  .meta({ id: "PointSource", description: "points of a cloud session, in true world coordinates" });
export type PointSource = z.infer<typeof PointSource>;
