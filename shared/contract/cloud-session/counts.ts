import { z } from "zod";

/** Rows of a session, misses included. */
export const EditCounts = z.object({
  session_id: z.string(),
  deleted_count: z.int().describe("rows under the deletion mask"),
  remaining_count: z.int().describe("rows that are not deleted"),
  total_count: z.int().describe("all rows"),
  pending_deleted_count: z.int().describe("deleted rows that the octree the client draws still has"),
});
export type EditCounts = z.infer<typeof EditCounts>;
