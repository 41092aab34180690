import { z } from "zod";
import { OctreeBlock } from "../octree.ts";
import { NoiseCriterion, NoiseReport } from "../pointcloud-denoise.ts";

/** Labels the surviving hits in the column noise_class, which is replaced; nothing is deleted. */
export const SessionDenoiseRequest = NoiseCriterion.extend({
  defer_octree: z.boolean().default(false).describe("do not build the octree; it is stale then"),
});
export type SessionDenoiseRequest = z.infer<typeof SessionDenoiseRequest>;

const SessionNoiseReport = NoiseReport.extend({
  session_id: z.string(),
  analyzed_points: z.int().describe("surviving hits"),
});

export const SessionDenoiseResponse = z.union([
  OctreeBlock.extend(SessionNoiseReport.shape).extend({ miss_octree_cache_id: z.string().nullable() }),
  SessionNoiseReport.extend({ octree_deferred: z.literal(true) }),
]);
export type SessionDenoiseResponse = z.infer<typeof SessionDenoiseResponse>;
