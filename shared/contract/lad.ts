import { z } from "zod";
import { ErrorText, Success, Warnings } from "./fields.ts";
import { Terrain, VoxelGrid } from "./voxel-grid.ts";

export const SnapGridRequest = z
  .object({
    grid: VoxelGrid.describe("its own column_offsets and kept_columns do not matter: both are worked out anew"),
    dem: Terrain.describe("terrain that the columns are lifted to, in the frame of the grid"),
    safety_fraction: z.number().default(0.1).describe("clearance above the ground as a share of one voxel's height"),
  })
  .meta({ id: "SnapGridRequest" });
export type SnapGridRequest = z.infer<typeof SnapGridRequest>;

export const SnapGridResponse = z
  .object({
    success: Success,
    column_offsets: z
      .array(z.number())
      .describe("(ny, nx), number j * nx + i: metres upwards from a level floor; 0 for a dropped column"),
    kept_columns: z.array(z.boolean()).describe("(ny, nx) false = beside the terrain"),
    dropped_columns: z.int().describe("columns that are not kept"),
    error: ErrorText,
    warnings: Warnings.optional(),
  })
  .meta({ id: "SnapGridResponse" });
export type SnapGridResponse = z.infer<typeof SnapGridResponse>;
