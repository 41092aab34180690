import { z } from "zod";
import { Warnings } from "./fields.ts";

const rendering = {
  output_symbol: z.string().max(200).default("y").describe("symbol on the left side of an explicit equation"),
  equation_type: z
    .enum(["explicit", "implicit"])
    .default("explicit")
    .describe("explicit: output_symbol = equation; implicit: 0 = equation"),
};
const EQUATION =
  "an expression as in Python: + - * / and ** or ^, brackets, functions; products may be written without a sign after a number; only the first line is used";

export const LatexRequest = z
  .object({ equation: z.string().describe(EQUATION), ...rendering })
  .meta({ id: "LatexRequest", description: "an equation to show" });
export type LatexRequest = z.infer<typeof LatexRequest>;

export const LatexQuery = z.object({
  equation: z.string().optional().describe(`${EQUATION}; absent: the most recent rendering`),
  ...rendering,
});
export type LatexQuery = z.infer<typeof LatexQuery>;

export const LatexResponse = z
  .object({
    success: z.literal(true).describe("always true: an equation that cannot be read is returned as text"),
    latex: z.string().describe("LaTeX for math mode, without delimiters"),
    warnings: Warnings.optional().describe("why the equation is shown as text"),
  })
  .meta({ id: "LatexResponse" });
export type LatexResponse = z.infer<typeof LatexResponse>;
