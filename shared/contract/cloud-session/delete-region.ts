import { z } from "zod";
import { RequiredRegion } from "../region.ts";
import { EditCounts } from "./counts.ts";

export const DeleteRegionRequest = z
  .object({
    region: RequiredRegion.describe("hits inside this region are deleted; misses are never deleted"),
  })
  .meta({ id: "DeleteRegionRequest" });
export type DeleteRegionRequest = z.infer<typeof DeleteRegionRequest>;

export const DeleteRegionResponse = EditCounts.extend({
  backfilled_misses_stale: z.boolean().describe("true: recovered misses no longer match the hits"),
}).meta({ id: "DeleteRegionResponse" });
export type DeleteRegionResponse = z.infer<typeof DeleteRegionResponse>;
