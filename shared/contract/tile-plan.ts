import { z } from "zod";

/** Square tiles in x and y into which a large cloud was divided. */
export const TilePlan = z
  .object({
    n: z.int().describe("number of points"),
    tile_m: z.number().describe("edge of a tile, metres"),
    buffer_m: z.number().describe("width of the buffer around a tile, whose points are used but not labelled, metres"),
    grid: z.tuple([z.int(), z.int()]).describe("number of tiles along x and y"),
    tiles: z.int().describe("number of tiles that contain points; ground detection also counts empty tiles"),
    points_per_tile_max: z.int().describe("number of points in the fullest tile, including its buffer"),
    points_per_tile_mean: z.number().describe("mean number of points in a tile, including its buffer"),
  })
  .meta({ id: "TilePlan" });
export type TilePlan = z.infer<typeof TilePlan>;
