import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";

/** Deletes every surviving hit that the selection leaves out. Permanent: an undo boundary. */
export const FilterRequest = Selection.extend({
  rebuild: z.boolean().default(true).describe("also build the octree of what is left"),
}).meta({ id: "FilterRequest" });
export type FilterRequest = z.infer<typeof FilterRequest>;

const common = { session_id: SessionId, warnings: Warnings.optional() };

const Rebuilt = OctreeBlock.extend({
  ...common,
  rebuilt: z.literal(true).describe("the octree of what is left was built"),
  miss_octree_cache_id: MissOctreeCacheId,
}).meta({ id: "FilteredAndRebuilt", description: "the octree of what is left" });

const Counted = z
  .object({
    ...common,
    point_count: z.literal(0).optional().describe("no hit would be left: nothing was changed"),
    rebuilt: z.literal(false).describe("no octree was built"),
    remaining_count: z.int().describe("rows that are not deleted"),
    deleted_count: z.int().optional().describe("rows under the deletion mask"),
    pending_deleted_count: z.int().optional().describe("deleted rows that the octree the client draws still has"),
    total_count: TotalCount,
  })
  .meta({ id: "Filtered", description: "without rebuild, or when nothing would be left: the counts" });

export const FilterResponse = z.union([Rebuilt, Counted]).meta({ id: "FilterResponse" });
export type FilterResponse = z.infer<typeof FilterResponse>;
