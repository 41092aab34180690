import { z } from "zod";
import { OctreeBlock } from "../octree.ts";

/** No request body. Deletions stay pending; the pose is cleared. */
export const RebuildOctreeResponse = OctreeBlock.extend({
  session_id: z.string(),
  total_count: z.int().describe("all rows, misses included"),
  miss_octree_cache_id: z.string().nullable(),
  octree_posed: z.literal(false),
  warnings: z.array(z.string()).optional(),
});
export type RebuildOctreeResponse = z.infer<typeof RebuildOctreeResponse>;
