import { z } from "zod";
import { OctreeBlock } from "../octree.ts";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const CommitLabelsRequest = z.object({ slug: LabelSlug });
export type CommitLabelsRequest = z.infer<typeof CommitLabelsRequest>;

export const CommitLabelsTail = OctreeBlock.extend(LabelSummary.omit({ label_edit_count: true }).shape).extend({
  miss_octree_cache_id: z.string().nullable(),
  warnings: z.array(z.string()).optional(),
});
export type CommitLabelsTail = z.infer<typeof CommitLabelsTail>;
