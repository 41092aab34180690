import { z } from "zod";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";
import { ChildSession } from "./child.ts";

/** The points that pass stay, the others move to a new session. Misses stay. An undo boundary. */
export const SplitRequest = Selection;
export type SplitRequest = z.infer<typeof SplitRequest>;

export const SplitResponse = z.object({
  session_id: z.string(),
  kept: z.union([OctreeBlock, z.object({ point_count: z.literal(0), cache_id: z.null(), cache_dir: z.null() })]),
  leftover: ChildSession.nullable().describe("null when every point passed"),
  warnings: z.array(z.string()).optional(),
});
export type SplitResponse = z.infer<typeof SplitResponse>;
