import { z } from "zod";
import { MissOctreeCacheId, Warnings } from "../fields.ts";
import { OctreeBlock } from "../octree.ts";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const CommitLabelsRequest = z.object({ slug: LabelSlug }).meta({ id: "CommitLabelsRequest" });
export type CommitLabelsRequest = z.infer<typeof CommitLabelsRequest>;

export const CommitLabelsTail = OctreeBlock.extend(LabelSummary.omit({ label_edit_count: true }).shape)
  .extend({
    miss_octree_cache_id: MissOctreeCacheId,
    warnings: Warnings.optional(),
  })
  .meta({ id: "CommitLabelsTail" });
export type CommitLabelsTail = z.infer<typeof CommitLabelsTail>;
