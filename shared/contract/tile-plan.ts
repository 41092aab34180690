import { z } from "zod";

/** Square tiles over x and y that a large cloud was cut into. */
export const TilePlan = z
  .object({
    n: z.int().describe("points"),
    tile_m: z.number().describe("edge, metres"),
    buffer_m: z.number().describe("collar round a tile that is looked at and not labelled, metres"),
    grid: z.tuple([z.int(), z.int()]).describe("tiles along x and y"),
    tiles: z.int().describe("tiles with points; ground counts empty ones too"),
    points_per_tile_max: z.int().describe("points of the fullest tile, its collar included"),
    points_per_tile_mean: z.number().describe("mean points of a tile, collars included"),
  })
  .meta({ id: "TilePlan" });
export type TilePlan = z.infer<typeof TilePlan>;
