import { z } from "zod";
import { checkedByService } from "../documented.ts";
import { MissOctreeCacheId, SessionId, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

export const BakeQuery = z.object({
  compact: checkedByService(z.stringbool(), z.boolean())
    .default(true)
    .describe("true (default): remove the deleted rows; false: keep them, marked as deleted"),
});
export type BakeQuery = z.infer<typeof BakeQuery>;

const warnings = Warnings.optional();

const Baked = OctreeBlock.extend({
  session_id: SessionId,
  baked: z.boolean().describe("true: the octree was built; false: it was already up to date"),
  miss_octree_cache_id: MissOctreeCacheId.optional(),
  deleted_history_len: z
    .int()
    .describe("number of deletions that can be undone; 0 unless points were deleted during the bake"),
  pending_deleted_count: z.int().describe("number of deleted rows that this octree still contains"),
  warnings,
}).meta({ id: "Baked", description: "the octree of the remaining points" });

const NothingBaked = z
  .object({
    session_id: SessionId,
    point_count: z.literal(0).describe("0: every hit is deleted, so nothing was baked"),
    baked: z.literal(false).describe("no octree was built"),
    warnings,
  })
  .meta({ id: "NothingBaked", description: "every hit is deleted" });

export const BakeTail = z.union([Baked, NothingBaked]).meta({ id: "BakeTail" });
export type BakeTail = z.infer<typeof BakeTail>;
