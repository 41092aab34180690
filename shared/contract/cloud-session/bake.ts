import { z } from "zod";
import { OctreeBlock } from "../octree.ts";

export const BakeQuery = z.object({
  compact: z.stringbool().default(true).describe("false: deleted rows stay under the mask"),
});
export type BakeQuery = z.infer<typeof BakeQuery>;

const warnings = z.array(z.string()).optional();
export const BakeTail = z.union([
  OctreeBlock.extend({
    session_id: z.string(),
    baked: z.boolean().describe("false: there was nothing to do"),
    miss_octree_cache_id: z.string().nullable().optional(),
    deleted_history_len: z.int().describe("delete steps that can be taken back; 0 unless a delete landed meanwhile"),
    pending_deleted_count: z.int(),
    warnings,
  }),
  z.object({
    session_id: z.string(),
    point_count: z.literal(0).describe("every hit is deleted: nothing was baked"),
    baked: z.literal(false),
    warnings,
  }),
]);
export type BakeTail = z.infer<typeof BakeTail>;
