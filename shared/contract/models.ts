import { z } from "zod";

const ModelText = z.object({
  symbol: z.string().describe("key of the parameter in results"),
  description: z.string().describe("meaning and unit"),
});

export const CurveModelRecord = z
  .object({
    name: z.string().describe("name for people"),
    required_data: z.array(z.string()).describe("columns that the data need"),
    optional_data: z.array(z.string()).optional().describe("columns that are used if they are there"),
    output: z.string().describe("the column that is fitted"),
    equation: z
      .string()
      .describe(
        "the output as an expression of columns, derived columns and parameters; corners of min are rounded as `source` says",
      ),
    parameters: z.array(ModelText).describe("fitted parameters"),
    columns: z
      .array(
        z.object({
          name: z.string().describe("header"),
          description: z.string().describe("meaning and unit"),
          unit: z.string().nullable().describe("unit in which the model takes the values; null = any"),
        }),
      )
      .describe("what the columns mean"),
    source: z.string().describe("publications of the equation"),
  })
  .meta({ id: "CurveModel", description: "a built-in model of a curve" });

export const ModelsResponse = z
  .record(z.string(), z.record(z.string(), CurveModelRecord))
  .meta({ id: "ModelsResponse", description: "built-in models by category and id" });
export type ModelsResponse = z.infer<typeof ModelsResponse>;
