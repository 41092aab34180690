import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { Box } from "../geometry.ts";
import { OctreeBlock } from "../octree.ts";
import { NoiseCriterion, NoiseReport } from "../pointcloud-denoise.ts";

/** Labels the hits that are not deleted in column noise_class, which is replaced. Deletes nothing. */
export const SessionDenoiseRequest = NoiseCriterion.extend({
  defer_octree: z.boolean().default(false).describe("true: do not build the octree, which is then out of date"),
}).meta({ id: "SessionDenoiseRequest" });
export type SessionDenoiseRequest = z.infer<typeof SessionDenoiseRequest>;

const SessionNoiseReport = NoiseReport.extend({
  session_id: SessionId,
  analyzed_points: z.int().describe("number of hits analysed (those not deleted)"),
  kept_bounds: Box.nullable().describe(
    "box around the hits that are not noise, metres, stored frame; null: all are noise",
  ),
});

const Shown = OctreeBlock.extend(SessionNoiseReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionDenoised", description: "the report, and the octree that contains the column" });

const Deferred = SessionNoiseReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built; the current one does not contain the column"),
}).meta({ id: "SessionDenoisedDeferred", description: "with defer_octree: only the report" });

export const SessionDenoiseResponse = z.union([Shown, Deferred]).meta({ id: "SessionDenoiseResponse" });
export type SessionDenoiseResponse = z.infer<typeof SessionDenoiseResponse>;
