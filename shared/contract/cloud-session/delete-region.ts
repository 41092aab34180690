import { z } from "zod";
import { RequiredRegion } from "../region.ts";
import { EditCounts } from "./counts.ts";

export const DeleteRegionRequest = z
  .object({
    region: RequiredRegion.describe("hits inside this region are deleted; misses are never deleted"),
    edit_id: z
      .string()
      .min(1)
      .max(100)
      .nullish()
      .default(null)
      .describe(
        "name of this deletion, for a client that did not get the answer and sends it again: while a deletion of this " +
          "name can be undone, it is not made twice; null = no name",
      ),
  })
  .meta({ id: "DeleteRegionRequest" });
export type DeleteRegionRequest = z.infer<typeof DeleteRegionRequest>;

export const DeleteRegionResponse = EditCounts.extend({
  edit_count: z.int().describe("number of deletions that reset_edits can undo"),
  backfilled_misses_stale: z.boolean().describe("true: recovered misses no longer match the hits"),
}).meta({ id: "DeleteRegionResponse" });
export type DeleteRegionResponse = z.infer<typeof DeleteRegionResponse>;
