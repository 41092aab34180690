import { z } from "zod";
import { NumberList, Point } from "./geometry.ts";

const cells = (axis: string) => z.int().default(1).describe(`voxels along ${axis}; below 1 counts as 1`);

/** A box of voxels, turned about the vertical through its centre. */
export const VoxelGrid = z
  .object({
    center: Point.describe("centre of the box, metres, true world"),
    size: Point.describe("full extents, metres"),
    nx: cells("x"),
    ny: cells("y"),
    nz: cells("z"),
    rotation: z.number().default(0).describe("degrees about +z, counter-clockwise"),
    column_offsets: NumberList.nullish()
      .default(null)
      .describe("(ny, nx) metres that each column is lifted by; null = a level floor"),
    kept_columns: z
      .array(z.boolean())
      .nullish()
      .default(null)
      .describe("(ny, nx) false = column dropped; null = all are kept"),
  })
  .meta({ id: "VoxelGrid", description: "a box of voxels, turned about the vertical through its centre" });
export type VoxelGrid = z.infer<typeof VoxelGrid>;

/**
 * Heights of a raster, row 0 at the lowest y: one list or a list of rows; null = void. Checked in one loop as the lists
 * of geometry.ts are.
 */
export const RasterHeights = z
  .custom<(number | null)[] | (number | null)[][]>((value) => Array.isArray(value) && isHeights(value), {
    message: "must be a list of finite numbers and nulls, or a list of such rows",
  })
  .meta({
    type: "array",
    items: {
      anyOf: [{ type: "number" }, { type: "null" }, { type: "array", items: { type: ["number", "null"] } }],
    },
  });

const isHeight = (value: unknown): boolean => value === null || Number.isFinite(value);
const isHeights = (values: readonly unknown[]): boolean =>
  Array.isArray(values[0]) ? values.every((row) => Array.isArray(row) && row.every(isHeight)) : values.every(isHeight);

/** A terrain raster as the DEM endpoints give it. */
export const Terrain = z
  .object({
    grid_z: RasterHeights.describe("(ny, nx) metres, row 0 at the lowest y; null and nodata = void"),
    nx: z.int().describe("columns"),
    ny: z.int().describe("rows"),
    cell: z.number().describe("edge of a cell, metres"),
    origin: z.tuple([z.number(), z.number()]).describe("lower-left corner of cell (0, 0), metres, true world"),
    nodata: z.number().nullish().default(null).describe("value that marks a void; null = none but null itself"),
  })
  .meta({ id: "Terrain", description: "a terrain raster as the DEM endpoints give it" });
export type Terrain = z.infer<typeof Terrain>;
