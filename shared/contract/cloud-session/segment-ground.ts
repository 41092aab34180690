import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { Box } from "../geometry.ts";
import { OctreeBlock } from "../octree.ts";
import { GroundFilter, GroundReport } from "../segment-ground.ts";

/** Labels the hits that are not deleted in column ground_class, which is replaced. */
export const SessionGroundRequest = GroundFilter.extend({
  skip_noise: z
    .boolean()
    .default(true)
    .describe(
      "true: hits that column noise_class (2) or las_classification (7, 18) names as noise are no ground and do not change it; they are labelled plant, which a warning counts",
    ),
  defer_octree: z.boolean().default(false).describe("true: do not build the octree, which is then out of date"),
  acknowledge_cost: z
    .boolean()
    .default(false)
    .describe("true: run without asking first (a 409 with a cost warning) if the run is long or large"),
}).meta({ id: "SessionGroundRequest" });
export type SessionGroundRequest = z.infer<typeof SessionGroundRequest>;

const SessionGroundReport = GroundReport.extend({
  session_id: SessionId,
  analyzed_points: z.int().describe("number of hits analysed (those not deleted)"),
  noise_count: z.int().describe("number of hits left out as noise and labelled plant; 0 with skip_noise false"),
  kept_bounds: Box.nullable().describe("box around the hits that took part, metres, stored frame; null: none did"),
});

const Shown = OctreeBlock.extend(SessionGroundReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionGround", description: "the report, and the octree that contains the column" });

const Deferred = SessionGroundReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built; the current one does not contain the column"),
}).meta({ id: "SessionGroundDeferred", description: "with defer_octree: only the report" });

export const SessionGroundResponse = z.union([Shown, Deferred]).meta({ id: "SessionGroundResponse" });
export type SessionGroundResponse = z.infer<typeof SessionGroundResponse>;
