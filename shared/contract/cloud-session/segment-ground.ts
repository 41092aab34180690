import { z } from "zod";
import { OctreeBlock } from "../octree.ts";
import { GroundFilter, GroundReport } from "../segment-ground.ts";

/** Labels the surviving hits in the column ground_class, which is replaced. */
export const SessionGroundRequest = GroundFilter.extend({
  defer_octree: z.boolean().default(false).describe("do not build the octree; it is stale then"),
  acknowledge_cost: z.boolean().default(false).describe("run without a 409 that says what it takes"),
});
export type SessionGroundRequest = z.infer<typeof SessionGroundRequest>;

const SessionGroundReport = GroundReport.extend({
  session_id: z.string(),
  analyzed_points: z.int().describe("surviving hits"),
});

export const SessionGroundResponse = z.union([
  OctreeBlock.extend(SessionGroundReport.shape).extend({ miss_octree_cache_id: z.string().nullable() }),
  SessionGroundReport.extend({ octree_deferred: z.literal(true) }),
]);
export type SessionGroundResponse = z.infer<typeof SessionGroundResponse>;
