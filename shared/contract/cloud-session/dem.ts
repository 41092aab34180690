import { z } from "zod";
import { DemBuffers, DemFailure, DemOptions, DemSuccess } from "../dem.ts";
import { MissOctreeCacheId } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

export const SessionDemRequest = DemOptions.extend({
  add_height_column: z
    .boolean()
    .default(false)
    .describe("dtm: also writes the column height_above_ground and rebuilds the octree"),
}).meta({ id: "SessionDemRequest" });
export type SessionDemRequest = z.infer<typeof SessionDemRequest>;

/** Meta of the frame; with the column it has the octree block beside its own keys. */
const WithOctree = DemSuccess.extend(OctreeBlock.shape).extend({ miss_octree_cache_id: MissOctreeCacheId }).meta({
  id: "DemSuccessWithColumn",
  description: "with add_height_column: the octree that has the column height_above_ground too",
});
export const SessionDemSuccess = z.union([WithOctree, DemSuccess]);
export const SessionDemMeta = z.union([...SessionDemSuccess.options, DemFailure]);

/** A PHB1 frame as the documentation shows it. */
export const SessionDemFrame = z
  .object({ meta: SessionDemMeta.describe("header of the frame"), buffers: DemBuffers })
  .meta({ id: "SessionDemFrame", description: "a PHB1 frame: its header and its arrays" });
export type SessionDemMeta = z.infer<typeof SessionDemMeta>;
