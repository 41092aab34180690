import { z } from "zod";
import { MissOctreeCacheId, SessionId } from "../fields.ts";
import { idleUnless, withIdleKeys } from "../idle-keys.ts";
import { OctreeBlock } from "../octree.ts";
import { SessionTreeFields, TreeFilter, TreesReport, TreeTiling } from "../segment-trees.ts";

/** Labels the hits that are neither deleted nor ground in column tree_instance, which is replaced. */
const SessionTreesObject = TreeFilter.extend(SessionTreeFields)
  .extend({
    defer_octree: z.boolean().default(false).describe("true: do not build the octree, which is then out of date"),
    acknowledge_cost: z
      .boolean()
      .default(false)
      .describe("true: run without asking first (a 409 with a cost warning) if the run is long or large"),
  })
  .meta({ id: "SessionTreesRequest" });
export const SessionTreesRequest = withIdleKeys(
  SessionTreesObject,
  idleUnless(({ tiling, method }) => tiling !== "off" && method !== "chm", "tile_buffer_m"),
);
export type SessionTreesRequest = z.infer<typeof SessionTreesRequest>;

const SessionTreesReport = TreesReport.extend({
  session_id: SessionId,
  tiling: TreeTiling.nullable().describe("how the cloud was divided; null = method chm"),
  analyzed_points: z.int().describe("number of hits analysed (those that are neither deleted nor ground)"),
});

const Shown = OctreeBlock.extend(SessionTreesReport.shape)
  .extend({ miss_octree_cache_id: MissOctreeCacheId })
  .meta({ id: "SessionTrees", description: "the report, and the octree that contains the column" });

const Deferred = SessionTreesReport.extend({
  octree_deferred: z.literal(true).describe("no octree was built; the current one does not contain the column"),
}).meta({ id: "SessionTreesDeferred", description: "with defer_octree: only the report" });

export const SessionTreesResponse = z.union([Shown, Deferred]).meta({ id: "SessionTreesResponse" });
export type SessionTreesResponse = z.infer<typeof SessionTreesResponse>;
