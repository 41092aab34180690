import { z } from "zod";
import { MAX_LABEL_CHARS, MAX_LABEL_STROKES, MAX_STROKE_ID_CHARS } from "../../limits.ts";
import { OptionalBox, RequiredRegion } from "../region.ts";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const LabelStroke = z
  .object({
    stroke_id: z
      .string()
      .max(MAX_STROKE_ID_CHARS)
      .describe("id chosen by the client; identifies the stroke in reset_label_edits"),
    region: RequiredRegion.describe("points inside this region get the class; stored frame"),
    to_class: z.int().describe("class to assign: 0..255, or 0..2^24 for columns named ..._instance"),
    from_classes: z
      .array(z.int())
      .nullish()
      .default(null)
      .describe("change only points of these classes; null = any class"),
    exclude_classes: z
      .array(z.int())
      .nullish()
      .default(null)
      .describe("do not change points of these classes; null = none"),
    limit_box: OptionalBox.nullish().default(null).describe("box that the points must also be in; null = none"),
  })
  .meta({ id: "LabelStroke", description: "one label edit, drawn with a brush, polygon or box" });
export type LabelStroke = z.infer<typeof LabelStroke>;

/** Strokes are applied in order, all or none. A stroke that changes no point is not recorded in the history. */
export const LabelRegionRequest = z
  .object({
    strokes: z.array(LabelStroke).describe(`strokes to apply in order, all or none; 1 to ${MAX_LABEL_STROKES}`),
    slug: LabelSlug.describe("name of the label column; created with all values 0 if it does not exist"),
    label: z.string().max(MAX_LABEL_CHARS).default("Manual Class").describe("display label, if the column is created"),
    skip_noise: z
      .boolean()
      .default(false)
      .describe(
        "true: hits that column noise_class (2) or las_classification (7, 18) names as noise keep their class, which a warning counts",
      ),
  })
  .meta({ id: "LabelRegionRequest" });
export type LabelRegionRequest = z.infer<typeof LabelRegionRequest>;

export const LabelRegionResponse = LabelSummary.extend({
  created_column: z.boolean().describe("true: the column was created for these strokes"),
  applied: z
    .array(
      z.object({
        stroke_id: z.string().describe("stroke_id of the request"),
        selected_count: z.int().describe("number of editable points (neither deleted nor misses) inside the region"),
        changed_count: z.int().describe("number of points whose class changed"),
      }),
    )
    .describe("one entry per stroke, in order"),
}).meta({ id: "LabelRegionResponse" });
export type LabelRegionResponse = z.infer<typeof LabelRegionResponse>;
