import { z } from "zod";
import { bulkList, bulkListOf } from "./bulk-list.ts";
import { BulkNumbers, Point } from "./geometry.ts";

const isFlag = (value: unknown) => typeof value === "boolean";

const cells = (axis: string) =>
  z.int().default(1).describe(`number of voxels along ${axis}; values below 1 count as 1`);

/** A box of voxels, rotated about the vertical axis through its centre. */
export const VoxelGrid = z
  .object({
    center: Point.describe("centre of the box, metres, true world"),
    size: Point.describe("full extent along each axis, metres"),
    nx: cells("x"),
    ny: cells("y"),
    nz: cells("z"),
    rotation: z.number().default(0).describe("rotation about +z, degrees, counter-clockwise"),
    column_offsets: BulkNumbers.nullish()
      .default(null)
      .describe("(ny, nx) height by which each column is raised, metres; null = a level floor"),
    kept_columns: bulkList<boolean>("flags", isFlag, "must be a list of true and false")
      .meta({ type: "array", items: { type: "boolean" } })
      .nullish()
      .default(null)
      .describe("(ny, nx) false = the column is dropped; null = all columns are kept"),
  })
  .meta({ id: "VoxelGrid", description: "box of voxels, rotated about the vertical axis through its centre" });
export type VoxelGrid = z.infer<typeof VoxelGrid>;

/**
 * Heights of a raster as one list or a list of rows; row 0 has the lowest y; null = void. Checked in one loop, like the
 * lists in geometry.ts.
 */
export const RasterHeights = bulkListOf<number | null | (number | null)[]>(
  "heights",
  (values) => isHeights(values),
  "must be a list of finite numbers and nulls, or a list of such rows",
).meta({
  type: "array",
  items: {
    anyOf: [{ type: "number" }, { type: "null" }, { type: "array", items: { type: ["number", "null"] } }],
  },
});

const isHeight = (value: unknown): boolean => value === null || Number.isFinite(value);
const isHeights = (values: readonly unknown[]): boolean =>
  Array.isArray(values[0]) ? values.every((row) => Array.isArray(row) && row.every(isHeight)) : values.every(isHeight);

/** A terrain raster in the layout of the DEM endpoints. */
export const Terrain = z
  .object({
    grid_z: RasterHeights.describe("(ny, nx) heights, metres; row 0 has the lowest y; null and nodata mark voids"),
    nx: z.int().describe("number of columns"),
    ny: z.int().describe("number of rows"),
    cell: z.number().describe("edge of a cell, metres"),
    origin: z.tuple([z.number(), z.number()]).describe("lower-left corner of cell (0, 0), metres, true world"),
    nodata: z.number().nullish().default(null).describe("value that marks a void, in addition to null; null = none"),
  })
  .meta({ id: "Terrain", description: "terrain raster in the layout of the DEM endpoints" });
export type Terrain = z.infer<typeof Terrain>;
