import { z } from "zod";
import { SessionId, TotalCount, Warnings } from "../fields.ts";

/** Row counts of a session, including misses. */
export const EditCounts = z
  .object({
    session_id: SessionId,
    deleted_count: z.int().describe("number of deleted rows"),
    remaining_count: z.int().describe("number of rows that are not deleted"),
    total_count: TotalCount,
    pending_deleted_count: z.int().describe("number of deleted rows that the current octree still contains"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "EditCounts", description: "row counts of a session, including misses" });
export type EditCounts = z.infer<typeof EditCounts>;
