import { z } from "zod";
import { DemBuffers, DemFailure, DemOptions, DemSuccess, demIdle } from "../dem.ts";
import { MissOctreeCacheId } from "../fields.ts";
import { withIdleKeys } from "../idle-keys.ts";
import { OctreeBlock } from "../octree.ts";

const SessionDemFields = DemOptions.extend({
  skip_noise: z
    .boolean()
    .default(true)
    .describe(
      "true: hits that column noise_class (2) or las_classification (7, 18) names as noise belong to no surface, which a warning counts; height_above_ground has them",
    ),
  add_height_column: z
    .boolean()
    .default(false)
    .describe(
      "dtm: also write the column height_above_ground and rebuild the octree; points outside bbox are above the ground there, in cells of the same size, but noise that is left out is above the nearest edge of the grid",
    ),
}).meta({ id: "SessionDemRequest" });
export const SessionDemRequest = withIdleKeys(SessionDemFields, demIdle);
export type SessionDemRequest = z.infer<typeof SessionDemRequest>;

/** Meta of the frame with add_height_column: it also contains the fields of the octree. */
const WithOctree = DemSuccess.extend(OctreeBlock.shape).extend({ miss_octree_cache_id: MissOctreeCacheId }).meta({
  id: "DemSuccessWithColumn",
  description: "with add_height_column: also the octree, which contains height_above_ground",
});
export const SessionDemSuccess = z.union([WithOctree, DemSuccess]);
export const SessionDemMeta = z.union([...SessionDemSuccess.options, DemFailure]);

/** Form in which the documentation shows the PHB1 frame. */
export const SessionDemFrame = z
  .object({ meta: SessionDemMeta.describe("scalars of the frame"), buffers: DemBuffers })
  .meta({ id: "SessionDemFrame", description: "PHB1 frame: scalars and arrays" });
export type SessionDemMeta = z.infer<typeof SessionDemMeta>;
