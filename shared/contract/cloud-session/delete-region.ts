import { z } from "zod";
import { RequiredRegion } from "../region.ts";
import { EditCounts } from "./counts.ts";

export const DeleteRegionRequest = z
  .object({
    region: RequiredRegion.describe("hits inside are deleted; misses never are"),
  })
  .meta({ id: "DeleteRegionRequest" });
export type DeleteRegionRequest = z.infer<typeof DeleteRegionRequest>;

export const DeleteRegionResponse = EditCounts.extend({
  backfilled_misses_stale: z.boolean().describe("recovered misses no longer fit the hits"),
}).meta({ id: "DeleteRegionResponse" });
export type DeleteRegionResponse = z.infer<typeof DeleteRegionResponse>;
