import { z } from "zod";
import { LooseTriple } from "./geometry.ts";

/**
 * Names the points of a cloud session for a computation. Order of its rules: survivors, misses dropped, world shift
 * added, stride, translation. The result is float64 in true world coordinates, metres.
 */
export const PointSource = z
  .object({
    session_id: z.string().nullish().default(null).describe("live session; its surviving points are used"),
    max_points: z
      .int()
      .nullish()
      .default(null)
      .describe("stride cap: every ceil(n / max_points)-th point; null or <= 0 = all"),
    translation: LooseTriple.nullish()
      .default(null)
      .describe("(3) metres, added after the world shift; other lengths: 400"),
    want_colors: z.boolean().default(false).describe("also colors 0..1 and intensity 0..1"),
    source_path: z.string().nullish().default(null).describe("provenance, never read"),
    ascii_format: z.string().nullish().default(null).describe("column legend of a text file, space separated"),
    include_misses: z.boolean().default(false).describe("keep sky points; exports set it themselves"),
    want_extras: z.boolean().default(false).describe("also the scalar columns, in lock-step"),
    allow_file_source: z
      .boolean()
      .default(false)
      .describe("reserved: this service reads sessions only and refuses a source without one"),
  })
  .meta({ id: "PointSource", description: "the points of a cloud session, in true world coordinates" });
export type PointSource = z.infer<typeof PointSource>;
