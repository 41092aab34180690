import { z } from "zod";
import { DemFailure, DemOptions, DemSuccess } from "../dem.ts";
import { OctreeBlock } from "../octree.ts";

export const SessionDemRequest = DemOptions.extend({
  add_height_column: z
    .boolean()
    .default(false)
    .describe("dtm: also writes the column height_above_ground and rebuilds the octree"),
});
export type SessionDemRequest = z.infer<typeof SessionDemRequest>;

/** Meta of the frame; with the column it has the octree block beside its own keys. */
const WithOctree = DemSuccess.extend(OctreeBlock.shape).extend({ miss_octree_cache_id: z.string().nullable() });
export const SessionDemSuccess = z.union([WithOctree, DemSuccess]);
export const SessionDemMeta = z.union([...SessionDemSuccess.options, DemFailure]);
export type SessionDemMeta = z.infer<typeof SessionDemMeta>;
