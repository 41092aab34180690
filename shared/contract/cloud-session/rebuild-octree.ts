import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

/** No request body. Deletions can still be undone; a pose (see transform) is cleared. */
export const RebuildOctreeResponse = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  miss_octree_cache_id: MissOctreeCacheId,
  octree_posed: z.literal(false).describe("false: the octree shows the points at their current position"),
  warnings: Warnings.optional(),
}).meta({ id: "RebuildOctreeResponse" });
export type RebuildOctreeResponse = z.infer<typeof RebuildOctreeResponse>;
