import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { Selection } from "../region.ts";

/** Permanently deletes all hits outside the selection. Earlier edits can no longer be undone. */
export const FilterRequest = Selection.extend({
  rebuild: z.boolean().default(true).describe("true: also build the octree of the remaining points"),
}).meta({ id: "FilterRequest" });
export type FilterRequest = z.infer<typeof FilterRequest>;

const common = { session_id: SessionId, warnings: Warnings.optional() };

const Rebuilt = OctreeBlock.extend({
  ...common,
  rebuilt: z.literal(true).describe("the octree of the remaining points was built"),
  miss_octree_cache_id: MissOctreeCacheId,
}).meta({ id: "FilteredAndRebuilt", description: "the octree of the remaining points" });

const Counted = z
  .object({
    ...common,
    point_count: z.literal(0).optional().describe("0: no hit would remain, so nothing was changed"),
    rebuilt: z.literal(false).describe("no octree was built"),
    remaining_count: z.int().describe("number of rows that are not deleted"),
    deleted_count: z.int().optional().describe("number of deleted rows"),
    pending_deleted_count: z.int().optional().describe("number of deleted rows that the current octree still contains"),
    total_count: TotalCount,
  })
  .meta({ id: "Filtered", description: "row counts; without rebuild, or if no hit would remain" });

export const FilterResponse = z.union([Rebuilt, Counted]).meta({ id: "FilterResponse" });
export type FilterResponse = z.infer<typeof FilterResponse>;
