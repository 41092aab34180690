import { z } from "zod";
import { MissOctreeCacheId, SessionId, TotalCount, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";

export const TransformRequest = z
  .object({
    matrix: z
      .custom<number[]>(Array.isArray, { message: "must be a list of 16 numbers" }) // the service checks the contents: 400
      .meta({ type: "array", items: { type: "number" } })
      .describe(
        "4 x 4 affine matrix in the true world frame, 16 numbers, row-major; last row 0 0 0 1; determinant above 1e-12; linear part up to 1e6; translation in metres, up to 1e10. Warnings tell of one that is no rotation by its few digits, scales by other factors than units have, stretches, or turns the cloud about a far origin",
      ),
    octree_mode: z
      .enum(["rebuild", "pose"])
      .default("rebuild")
      .describe(
        "rebuild: update the octree; pose: leave it unchanged, and the client draws it with the matrix applied",
      ),
  })
  .meta({ id: "TransformRequest" });
export type TransformRequest = z.infer<typeof TransformRequest>;

export const TransformResponse = OctreeBlock.extend({
  session_id: SessionId,
  total_count: TotalCount,
  miss_octree_cache_id: MissOctreeCacheId,
  octree_posed: z
    .boolean()
    .describe("true: the octree shows the previous positions; draw it with all matrices since its build applied"),
  warnings: Warnings.optional(),
}).meta({ id: "TransformResponse" });
export type TransformResponse = z.infer<typeof TransformResponse>;
