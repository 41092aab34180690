import { z } from "zod";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const ResetLabelEditsRequest = z
  .object({
    undo_after_stroke_ids: z
      .array(z.string())
      .nullish()
      .default(null)
      .describe("strokes the client still holds, newest first: everything after the first one known is taken back"),
    edit_count: z.int().nullish().default(null).describe("strokes to keep, oldest first; used without the list"),
    slug: LabelSlug,
  })
  .meta({ id: "ResetLabelEditsRequest" });
export type ResetLabelEditsRequest = z.infer<typeof ResetLabelEditsRequest>;

export const ResetLabelEditsResponse = LabelSummary;
