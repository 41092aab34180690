import { z } from "zod";
import { ErrorText, FailureCode, Success, Warnings } from "./fields.ts";
import { withIdleKeys } from "./idle-keys.ts";
import { Terrain, VoxelGrid } from "./voxel-grid.ts";

const SnapGridObject = z
  .object({
    grid: VoxelGrid.describe(
      "grid to place on the terrain; its column_offsets and kept_columns are ignored and computed anew",
    ),
    dem: Terrain.describe("terrain to raise the columns to, in the frame of the grid"),
    safety_fraction: z
      .number()
      .default(0.1)
      .describe("clearance above the ground, as a fraction of the height of a voxel"),
  })
  .meta({ id: "SnapGridRequest" });
export const SnapGridRequest = withIdleKeys(SnapGridObject, () => ["grid.column_offsets", "grid.kept_columns"]);
export type SnapGridRequest = z.infer<typeof SnapGridRequest>;

export const SnapGridResponse = z
  .object({
    success: Success,
    column_offsets: z
      .array(z.number())
      .describe(
        "(ny, nx) height offset of column (i, j) above a level floor, metres, at index j * nx + i; 0 for a dropped column",
      ),
    kept_columns: z
      .array(z.boolean())
      .describe("(ny, nx) false = dropped, because the column lies outside the terrain"),
    dropped_columns: z.int().describe("number of dropped columns"),
    error: ErrorText,
    code: FailureCode,
    warnings: Warnings.optional(),
  })
  .meta({ id: "SnapGridResponse" });
export type SnapGridResponse = z.infer<typeof SnapGridResponse>;
