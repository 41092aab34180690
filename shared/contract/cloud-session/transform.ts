import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

export const TransformRequest = z
  .object({
    matrix: z
      .custom<number[]>(Array.isArray, { message: "must be a list of 16 numbers" }) // what is in it the service says: 400
      .meta({ type: "array", items: { type: "number" } })
      .describe(
        "4 x 4, 16 numbers, row-major, true world frame; last row 0 0 0 1, determinant above 1e-12, factors to 1e6, metres to 1e10",
      ),
    octree_mode: z
      .enum(["rebuild", "pose"])
      .default("rebuild")
      .describe("pose: the octree stays as it is and the client draws it moved"),
  })
  .meta({ id: "TransformRequest" });
export type TransformRequest = z.infer<typeof TransformRequest>;

export const TransformResponse = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  miss_octree_cache_id: MissOctreeCacheId,
  octree_posed: z.boolean().describe("the octree shows the points where they were: draw it with every matrix since"),
  warnings: Warnings.optional(),
}).meta({ id: "TransformResponse" });
export type TransformResponse = z.infer<typeof TransformResponse>;
