import { z } from "zod";
import { checkedByService, requiredByService } from "./documented.ts";
import { Point } from "./geometry.ts";

/*
 * What a user draws around points. Boxes are in the stored frame, faces included; screen shapes are pixels of a frozen
 * camera and cut through the whole cloud: clip = P V [x, y, z, 1], px = (clip.x / clip.w + 1) / 2 * width, py = (1 -
 * (clip.y / clip.w + 1) / 2) * height; points with clip.w <= 0 are outside. A polygon is tested by even-odd crossing, a
 * square by |px - cx| <= h and |py - cy| <= h.
 */

const Invert = z.boolean().optional().describe("true: the points outside; default false");
const Pixel = z.tuple([z.number(), z.number()]);
const Matrix = z.array(z.number()).length(16);

/** A frozen camera. */
const Screen = {
  projection: Matrix.describe("16 numbers, column-major: eye to clip space"),
  view: Matrix.describe("16 numbers, column-major: stored frame to eye"),
  canvas: z
    .object({
      width: z.number().positive().describe("pixels"),
      height: z.number().positive().describe("pixels"),
    })
    .describe("size of the picture the shape was drawn on"),
};

export const BoxRegion = z
  .object({
    kind: z.literal("box").describe("an axis-aligned box"),
    invert: Invert,
    min: Point.describe("lower corner, metres, stored frame"),
    max: Point.describe("upper corner, metres, stored frame"),
  })
  .meta({ id: "BoxRegion", description: "points inside an axis-aligned box, faces included" });
export type BoxRegion = z.infer<typeof BoxRegion>;

export const PolygonRegion = z
  .object({
    kind: z.literal("polygon").describe("a polygon on the screen"),
    invert: Invert,
    points: z.array(Pixel).min(3).describe("(k, 2) pixels, k >= 3; y downwards"),
    ...Screen,
  })
  .meta({ id: "PolygonRegion", description: "points that a frozen camera shows inside a polygon" });
export type PolygonRegion = z.infer<typeof PolygonRegion>;

export const SquaresRegion = z
  .object({
    kind: z.literal("squares_union").describe("the squares of a brush stroke on the screen"),
    invert: Invert,
    centers: z.array(Pixel).min(1).describe("(k, 2) pixels, k >= 1; y downwards"),
    half_sizes: z.array(z.number().positive()).min(1).describe("(k) half of each square's edge, pixels"),
    ...Screen,
  })
  .meta({ id: "SquaresRegion", description: "points that a frozen camera shows inside any of some squares" });
export type SquaresRegion = z.infer<typeof SquaresRegion>;

export const Region = z
  .discriminatedUnion("kind", [BoxRegion, PolygonRegion, SquaresRegion])
  .meta({ id: "Region", description: "a part of the cloud that a user drew" });
export type Region = z.infer<typeof Region>;

/** Any object: the service checks the parts and answers 400 with a sentence that names the field. */
const anyRegion = () =>
  z
    .looseObject({
      kind: z.unknown(),
      invert: z.unknown(),
      min: z.unknown(),
      max: z.unknown(),
      points: z.unknown(),
      centers: z.unknown(),
      half_sizes: z.unknown(),
      projection: z.unknown(),
      view: z.unknown(),
      canvas: z.unknown(),
    })
    .partial();

/** A region of a request that may do without one. */
export const OptionalRegion = checkedByService(anyRegion(), Region);
/** A region that a request must have. */
export const RequiredRegion = requiredByService(anyRegion(), Region);
/** A region that must be a box. */
export const OptionalBox = checkedByService(anyRegion(), BoxRegion);

export const ScalarFilter = z
  .object({
    slug: z.string().describe("scalar column; timestamp and gps-time name the clock"),
    min: z.number().nullish().default(null).describe("inclusive, in the column's unit; null = no lower end"),
    max: z.number().nullish().default(null).describe("inclusive, in the column's unit; null = no upper end"),
    values: z
      .array(z.number())
      .nullish()
      .default(null)
      .describe("non-empty: keep where the rounded value is one of these; min and max then mean nothing"),
  })
  .meta({ id: "ScalarFilter" });
export type ScalarFilter = z.infer<typeof ScalarFilter>;

/** Which points an operation takes: inside the region and through every filter. At least one of both is needed. */
export const Selection = z.object({
  region: OptionalRegion.nullish().default(null).describe("points inside it; null = everywhere"),
  scalar_filters: z
    .array(ScalarFilter)
    .nullish()
    .default(null)
    .describe("points that pass every one of them; null or empty = no filter"),
});
export type Selection = z.infer<typeof Selection>;
