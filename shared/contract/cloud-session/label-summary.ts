import { z } from "zod";
import { MAX_SLUG_CHARS } from "../../limits.ts";
import { SessionId, Warnings } from "../fields.ts";

export const DEFAULT_LABEL_SLUG = "manual_class";

export const LabelSlug = z
  .string()
  .max(MAX_SLUG_CHARS)
  .default(DEFAULT_LABEL_SLUG)
  .describe("name of the label column");

/** Labels of the editable points (neither deleted nor misses). A missing column counts as all 0. */
export const LabelSummary = z
  .object({
    session_id: SessionId,
    slug: z.string().describe("name of the label column"),
    class_counts: z.record(z.string(), z.int()).describe("number of editable points, by class"),
    value_range: z
      .tuple([z.number(), z.number()])
      .describe("[smallest, largest] class of the editable points; [0, 0] without any"),
    label_edit_count: z.int().describe("number of strokes that can be undone"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "LabelSummary", description: "labels of the editable points (neither deleted nor misses)" });
export type LabelSummary = z.infer<typeof LabelSummary>;

export const LabelSummaryQuery = z.object({ slug: LabelSlug });
