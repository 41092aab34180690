import { z } from "zod";
import { checkedByService } from "../documented.ts";
import { MissOctreeCacheId, SessionId, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

export const BakeQuery = z.object({
  compact: checkedByService(z.stringbool(), z.boolean())
    .default(true)
    .describe("true (default): drop the deleted rows; false: they stay under the deletion mask"),
});
export type BakeQuery = z.infer<typeof BakeQuery>;

const warnings = Warnings.optional();

const Baked = OctreeBlock.extend({
  session_id: SessionId,
  baked: z.boolean().describe("false: there was nothing to do"),
  miss_octree_cache_id: MissOctreeCacheId.optional(),
  deleted_history_len: z.int().describe("delete steps that can be taken back; 0 unless a delete landed meanwhile"),
  pending_deleted_count: z.int().describe("deleted rows that this octree still has"),
  warnings,
}).meta({ id: "Baked", description: "the octree of what is left" });

const NothingBaked = z
  .object({
    session_id: SessionId,
    point_count: z.literal(0).describe("every hit is deleted: nothing was baked"),
    baked: z.literal(false).describe("no octree was built"),
    warnings,
  })
  .meta({ id: "NothingBaked", description: "every hit is deleted" });

export const BakeTail = z.union([Baked, NothingBaked]).meta({ id: "BakeTail" });
export type BakeTail = z.infer<typeof BakeTail>;
