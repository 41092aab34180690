import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { NoiseCriterion, NoiseReport } from "../pointcloud-denoise.ts";

/** Labels the surviving hits in the column noise_class, which is replaced; nothing is deleted. */
export const SessionDenoiseRequest = NoiseCriterion.extend({
  defer_octree: z.boolean().default(false).describe("do not build the octree; it is stale then"),
}).meta({ id: "SessionDenoiseRequest" });
export type SessionDenoiseRequest = z.infer<typeof SessionDenoiseRequest>;

const SessionNoiseReport = NoiseReport.extend({
  session_id: SessionId,
  analyzed_points: z.int().describe("surviving hits"),
});

const Shown = OctreeBlock.extend(SessionNoiseReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionDenoised", description: "the report, and the octree that has the column" });

const Deferred = SessionNoiseReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built: the one the client draws lacks the column"),
}).meta({ id: "SessionDenoisedDeferred", description: "with defer_octree: the report alone" });

export const SessionDenoiseResponse = z.union([Shown, Deferred]).meta({ id: "SessionDenoiseResponse" });
export type SessionDenoiseResponse = z.infer<typeof SessionDenoiseResponse>;
