import { z } from "zod";
import { checkedByService, requiredByService } from "./documented.ts";
import { Point } from "./geometry.ts";
import { fieldsOfMethods, idleUnless, isSent, withIdleKeys } from "./idle-keys.ts";

/*
 * Shapes that a user draws to select points. Boxes are in the stored frame and include their faces. Screen shapes are
 * given in pixels of a fixed camera and cut through the whole cloud: with clip = P V [x, y, z, 1],
 * px = (clip.x / clip.w + 1) / 2 * width and py = (1 - (clip.y / clip.w + 1) / 2) * height; points with clip.w <= 0 are
 * outside. A point is inside a polygon by the even-odd rule, and inside a square if |px - cx| <= h and |py - cy| <= h.
 */

const Invert = z.boolean().optional().describe("true: select the points outside the shape; default false");
const Pixel = z.tuple([z.number(), z.number()]);
const Matrix = z.array(z.number()).length(16);

/** The camera when the shape was drawn. */
const Screen = {
  projection: Matrix.describe("4 x 4 matrix from eye to clip space, 16 numbers, column-major"),
  view: Matrix.describe("4 x 4 matrix from the stored frame to eye space, 16 numbers, column-major"),
  canvas: z
    .object({
      width: z.number().positive().describe("width, pixels"),
      height: z.number().positive().describe("height, pixels"),
    })
    .describe("size of the image that the shape was drawn on"),
};

export const BoxRegion = z
  .object({
    kind: z.literal("box").describe("an axis-aligned box"),
    invert: Invert,
    min: Point.describe("lower corner, metres, stored frame"),
    max: Point.describe("upper corner, metres, stored frame"),
  })
  .meta({ id: "BoxRegion", description: "points inside an axis-aligned box, including its faces" });
export type BoxRegion = z.infer<typeof BoxRegion>;

export const PolygonRegion = z
  .object({
    kind: z.literal("polygon").describe("a polygon on the screen"),
    invert: Invert,
    points: z.array(Pixel).min(3).describe("(k, 2) corners, k >= 3, pixels; y points down"),
    ...Screen,
  })
  .meta({ id: "PolygonRegion", description: "points that a fixed camera shows inside a polygon" });
export type PolygonRegion = z.infer<typeof PolygonRegion>;

export const SquaresRegion = z
  .object({
    kind: z.literal("squares_union").describe("the squares of a brush stroke on the screen"),
    invert: Invert,
    centers: z.array(Pixel).min(1).describe("(k, 2) centres of the squares, k >= 1, pixels; y points down"),
    half_sizes: z.array(z.number().positive()).min(1).describe("(k) half the edge of each square, pixels"),
    ...Screen,
  })
  .meta({ id: "SquaresRegion", description: "points that a fixed camera shows inside at least one of the squares" });
export type SquaresRegion = z.infer<typeof SquaresRegion>;

export const Region = z
  .discriminatedUnion("kind", [BoxRegion, PolygonRegion, SquaresRegion])
  .meta({ id: "Region", description: "part of the cloud, selected by a shape" });
export type Region = z.infer<typeof Region>;

const SCREEN_FIELDS = Object.keys(Screen);
const SHAPE_FIELDS = {
  box: ["min", "max"],
  polygon: ["points", ...SCREEN_FIELDS],
  squares_union: ["centers", "half_sizes", ...SCREEN_FIELDS],
};

/** Accepts any object: the service checks the fields and answers 400 with a sentence that names the wrong one. */
const anyRegion = () =>
  withIdleKeys(
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
      .partial(),
    fieldsOfMethods("kind", "", SHAPE_FIELDS),
  );

/** An optional region of a request. */
export const OptionalRegion = checkedByService(anyRegion(), Region);
/** A required region of a request. */
export const RequiredRegion = requiredByService(anyRegion(), Region);
/** An optional region that must be a box. */
export const OptionalBox = checkedByService(anyRegion(), BoxRegion);

const FilterFields = z
  .object({
    slug: z.string().describe("name of the scalar column; timestamp and gps-time both mean the time of a point"),
    min: z.number().nullish().default(null).describe("lower bound, inclusive, in the unit of the column; null = none"),
    max: z.number().nullish().default(null).describe("upper bound, inclusive, in the unit of the column; null = none"),
    values: z
      .array(z.number())
      .nullish()
      .default(null)
      .describe("if not empty: select points whose rounded value is in this list; min and max are then ignored"),
  })
  .meta({ id: "ScalarFilter" });
export const ScalarFilter = withIdleKeys(
  FilterFields,
  idleUnless(({ values }) => !isSent(values), "min", "max"),
);
export type ScalarFilter = z.infer<typeof ScalarFilter>;

/** Selects the points inside the region that pass all filters. A region or at least one filter is required. */
export const Selection = z.object({
  region: OptionalRegion.nullish().default(null).describe("select points inside this region; null = everywhere"),
  scalar_filters: z
    .array(ScalarFilter)
    .nullish()
    .default(null)
    .describe("select points that pass all of these filters; null or empty = no filter"),
});
export type Selection = z.infer<typeof Selection>;
