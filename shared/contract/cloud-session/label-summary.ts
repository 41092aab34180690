import { z } from "zod";
import { SessionId } from "../fields.ts";

export const DEFAULT_LABEL_SLUG = "manual_class";

export const LabelSlug = z.string().default(DEFAULT_LABEL_SLUG).describe("slug of the label column");

/** How the editable points (neither deleted nor misses) are labelled. A column that is not there counts as all 0. */
export const LabelSummary = z
  .object({
    session_id: SessionId,
    slug: z.string().describe("label column"),
    class_counts: z.record(z.string(), z.int()).describe("value -> editable points"),
    value_range: z
      .tuple([z.number(), z.number()])
      .describe("[smallest, largest] value of editable points; [0, 0] without any"),
    label_edit_count: z.int().describe("strokes that can be taken back"),
  })
  .meta({ id: "LabelSummary", description: "how the editable points (neither deleted nor misses) are labelled" });
export type LabelSummary = z.infer<typeof LabelSummary>;

export const LabelSummaryQuery = z.object({ slug: LabelSlug });
