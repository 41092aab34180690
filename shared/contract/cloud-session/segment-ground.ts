import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { GroundFilter, GroundReport } from "../segment-ground.ts";

/** Labels the surviving hits in the column ground_class, which is replaced. */
export const SessionGroundRequest = GroundFilter.extend({
  defer_octree: z.boolean().default(false).describe("do not build the octree; it is stale then"),
  acknowledge_cost: z.boolean().default(false).describe("run without a 409 that says what it takes"),
}).meta({ id: "SessionGroundRequest" });
export type SessionGroundRequest = z.infer<typeof SessionGroundRequest>;

const SessionGroundReport = GroundReport.extend({
  session_id: SessionId,
  analyzed_points: z.int().describe("surviving hits"),
});

const Shown = OctreeBlock.extend(SessionGroundReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionGround", description: "the report, and the octree that has the column" });

const Deferred = SessionGroundReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built: the one the client draws lacks the column"),
}).meta({ id: "SessionGroundDeferred", description: "with defer_octree: the report alone" });

export const SessionGroundResponse = z.union([Shown, Deferred]).meta({ id: "SessionGroundResponse" });
export type SessionGroundResponse = z.infer<typeof SessionGroundResponse>;
