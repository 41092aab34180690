import { z } from "zod";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";

/** Deletes every surviving hit that the selection leaves out. Permanent: an undo boundary. */
export const FilterRequest = Selection.extend({
  rebuild: z.boolean().default(true).describe("also build the octree of what is left"),
});
export type FilterRequest = z.infer<typeof FilterRequest>;

const common = { session_id: z.string(), warnings: z.array(z.string()).optional() };
export const FilterTail = z.union([
  OctreeBlock.extend({ ...common, rebuilt: z.literal(true), miss_octree_cache_id: z.string().nullable() }),
  z.object({
    ...common,
    point_count: z.literal(0).optional().describe("no hit would be left: nothing was changed"),
    rebuilt: z.literal(false),
    remaining_count: z.int(),
    deleted_count: z.int().optional(),
    pending_deleted_count: z.int().optional(),
    total_count: z.int(),
  }),
]);
export type FilterTail = z.infer<typeof FilterTail>;
