import { z } from "zod";
import { OptionalBox, RequiredRegion } from "../region.ts";
import { LabelSlug, LabelSummary } from "./label-summary.ts";

export const LabelStroke = z
  .object({
    stroke_id: z.string().describe("made by the client; names the stroke in reset_label_edits"),
    region: RequiredRegion.describe("points inside are painted; stored frame"),
    to_class: z.int().describe("class that the points get: 0..255; up to 2^24 for columns named ..._instance"),
    from_classes: z.array(z.int()).nullish().default(null).describe("repaint these classes only; null = any"),
    exclude_classes: z.array(z.int()).nullish().default(null).describe("never repaint these classes; null = none"),
    limit_box: OptionalBox.nullish().default(null).describe("a box the points must be in as well; null = none"),
  })
  .meta({ id: "LabelStroke", description: "one stroke of a brush, polygon or box" });
export type LabelStroke = z.infer<typeof LabelStroke>;

/** Strokes are applied in order, all or none. One that changes nothing leaves no trace in the history. */
export const LabelRegionRequest = z
  .object({
    strokes: z.array(LabelStroke).describe("applied in order, all or none; at least one"),
    slug: LabelSlug.describe("label column; made with all 0 when it is not there"),
    label: z.string().default("Manual Class").describe("display label of a new column"),
  })
  .meta({ id: "LabelRegionRequest" });
export type LabelRegionRequest = z.infer<typeof LabelRegionRequest>;

export const LabelRegionResponse = LabelSummary.extend({
  created_column: z.boolean().describe("the column was made for these strokes"),
  applied: z
    .array(
      z.object({
        stroke_id: z.string().describe("as sent"),
        selected_count: z.int().describe("editable points inside"),
        changed_count: z.int().describe("points whose class changed"),
      }),
    )
    .describe("one entry per stroke, in order"),
}).meta({ id: "LabelRegionResponse" });
export type LabelRegionResponse = z.infer<typeof LabelRegionResponse>;
