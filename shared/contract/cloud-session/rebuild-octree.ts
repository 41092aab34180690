import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

/** No request body. Deletions stay pending; the pose is cleared. */
export const RebuildOctreeResponse = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  miss_octree_cache_id: MissOctreeCacheId,
  octree_posed: z.literal(false).describe("the octree is where the points are"),
  warnings: Warnings.optional(),
}).meta({ id: "RebuildOctreeResponse" });
export type RebuildOctreeResponse = z.infer<typeof RebuildOctreeResponse>;
