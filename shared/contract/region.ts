import { z } from "zod";

/**
 * What a user draws round points. The service checks the parts itself and answers 400 with a sentence that names the
 * field. Boxes are in the stored frame, faces included; screen shapes are pixels of a frozen camera and cut through the
 * whole cloud: clip = P V [x, y, z, 1], px = (clip.x / clip.w + 1) / 2 * width, py = (1 - (clip.y / clip.w + 1) / 2) *
 * height; points with clip.w <= 0 are outside. A polygon is tested by even-odd crossing, a square by
 * |px - cx| <= h and |py - cy| <= h.
 */
export const Region = z
  .looseObject({
    kind: z.unknown().describe("box, polygon or squares_union"),
    invert: z.unknown().describe("true = the points outside; default false"),
    min: z.unknown().describe("box: (3) metres, stored frame"),
    max: z.unknown().describe("box: (3) metres, stored frame"),
    points: z.unknown().describe("polygon: (k, 2) pixels, k >= 3"),
    centers: z.unknown().describe("squares_union: (k, 2) pixels, k >= 1"),
    half_sizes: z.unknown().describe("squares_union: (k) pixels, > 0"),
    projection: z.unknown().describe("screen shapes: 16 numbers, column-major"),
    view: z.unknown().describe("screen shapes: 16 numbers, column-major; stored frame to eye"),
    canvas: z.unknown().describe("screen shapes: {width, height} in pixels, > 0"),
  })
  .partial();
export type Region = z.infer<typeof Region>;

export const ScalarFilter = z.object({
  slug: z.string().describe("scalar column; timestamp and gps-time name the clock"),
  min: z.number().nullish().default(null).describe("inclusive; null = no lower end"),
  max: z.number().nullish().default(null).describe("inclusive; null = no upper end"),
  values: z
    .array(z.number())
    .nullish()
    .default(null)
    .describe("non-empty: keep where the rounded value is one of these; min and max then mean nothing"),
});
export type ScalarFilter = z.infer<typeof ScalarFilter>;

/** Which points an operation takes: inside the region and through every filter. At least one of both is needed. */
export const Selection = z.object({
  region: Region.nullish().default(null),
  scalar_filters: z.array(ScalarFilter).nullish().default(null),
});
export type Selection = z.infer<typeof Selection>;
