import { z } from "zod";
import { SessionId, TotalCount } from "../fields.ts";

/** Rows of a session, misses included. */
export const EditCounts = z
  .object({
    session_id: SessionId,
    deleted_count: z.int().describe("rows under the deletion mask"),
    remaining_count: z.int().describe("rows that are not deleted"),
    total_count: TotalCount,
    pending_deleted_count: z.int().describe("deleted rows that the octree the client draws still has"),
  })
  .meta({ id: "EditCounts", description: "rows of a session, misses included" });
export type EditCounts = z.infer<typeof EditCounts>;
