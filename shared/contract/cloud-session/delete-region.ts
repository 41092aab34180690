import { z } from "zod";
import { Region } from "../region.ts";
import { EditCounts } from "./counts.ts";

export const DeleteRegionRequest = z.object({
  region: Region.optional().describe("required; misses are never deleted"),
});
export type DeleteRegionRequest = z.infer<typeof DeleteRegionRequest>;

export const DeleteRegionResponse = EditCounts.extend({
  backfilled_misses_stale: z.boolean().describe("recovered misses no longer fit the hits"),
});
export type DeleteRegionResponse = z.infer<typeof DeleteRegionResponse>;
