import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { SessionWoodFields, WoodFilter, WoodReport } from "../segment-wood.ts";

/** Labels the hits that are not deleted in column wood_class, which is replaced. */
export const SessionWoodRequest = WoodFilter.extend(SessionWoodFields).meta({ id: "SessionWoodRequest" });
export type SessionWoodRequest = z.infer<typeof SessionWoodRequest>;

const SessionWoodReport = WoodReport.extend({
  session_id: SessionId,
  analyzed_points: z.int().describe("number of hits analysed (those that are not deleted)"),
});

const Shown = OctreeBlock.extend(SessionWoodReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionWood", description: "the report, and the octree that contains the column" });

const Deferred = SessionWoodReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built; the current one does not contain the column"),
}).meta({ id: "SessionWoodDeferred", description: "with defer_octree: only the report" });

export const SessionWoodResponse = z.union([Shown, Deferred]).meta({ id: "SessionWoodResponse" });
export type SessionWoodResponse = z.infer<typeof SessionWoodResponse>;
