import { z } from "zod";
import { Point } from "../geometry.ts";
import { ChildSession } from "./child.ts";

export const MergeRequest = z.object({
  session_ids: z.array(z.string()).describe("at least two different ones; the first gives the frame"),
});
export type MergeRequest = z.infer<typeof MergeRequest>;

export const MergeResponse = z.object({
  merged: ChildSession.extend({
    world_shift: Point.nullable().describe("metres; true world = stored + world_shift"),
    source_units: z.string().nullable(),
    source_unit_scale: z.number().nullable(),
    has_misses: z.boolean(),
    miss_octree_cache_id: z.string().nullable(),
  }),
  warnings: z.array(z.string()).optional(),
});
export type MergeResponse = z.infer<typeof MergeResponse>;
