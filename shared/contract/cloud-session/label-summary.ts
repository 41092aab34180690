import { z } from "zod";

export const DEFAULT_LABEL_SLUG = "manual_class";

export const LabelSlug = z.string().default(DEFAULT_LABEL_SLUG).describe("label column");

/** How the editable points (neither deleted nor misses) are labelled. A column that is not there counts as all 0. */
export const LabelSummary = z.object({
  session_id: z.string(),
  slug: z.string(),
  class_counts: z.record(z.string(), z.int()).describe("value -> editable points"),
  value_range: z.tuple([z.number(), z.number()]).describe("of editable points; [0, 0] without any"),
  label_edit_count: z.int().describe("strokes that can be taken back"),
});
export type LabelSummary = z.infer<typeof LabelSummary>;

export const LabelSummaryQuery = z.object({ slug: LabelSlug });
