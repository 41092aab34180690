import { z } from "zod";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const ResetLabelEditsRequest = z
  .object({
    undo_after_stroke_ids: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe("ids of the strokes to keep, newest first: all strokes after the first id that is known are undone"),
    edit_count: z
      .int()
      .nullish()
      .default(null)
      .describe("number of strokes to keep, oldest first; used only without undo_after_stroke_ids"),
    slug: LabelSlug,
  })
  .meta({ id: "ResetLabelEditsRequest" });
export type ResetLabelEditsRequest = z.infer<typeof ResetLabelEditsRequest>;

export const ResetLabelEditsResponse = LabelSummary;
