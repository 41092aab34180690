import { z } from "zod";
import { FittedParameter, fitOptions, fitReport } from "./fit-custom.ts";

export const FIT_METHODS = ["auto", "levenberg_marquardt"] as const;

/** Form of POST /api/fit. */
export const FitForm = z
  .object({
    file: z.string().meta({
      format: "binary",
      contentMediaType: "application/octet-stream",
      description:
        "table: .csv or .txt (UTF-8; commas, semicolons, tabs or blanks; a decimal comma unless commas separate cells) or .xlsx (first sheet); a header row with the names of the columns, then perhaps a row of units. Units in that row or in brackets after a name are converted to those of the model, and told; those that need more than a factor, such as Ci in Pa: 400. Rows with an empty cell or a code for a missing value (-9999) are left out, and told",
    }),
    model_category: z.string().describe("photosynthesis, stomatal, hydraulics or generic; others: 400"),
    model_type: z.string().describe("id of GET /api/models; vulnerability = sigmoidal, pvcurve = sjb2018; others: 400"),
    method: z
      .enum(FIT_METHODS)
      .default("auto")
      .describe(
        "auto: further starts where the fit from the data's start fails; levenberg_marquardt: that start alone",
      ),
    max_iterations: fitOptions.max_iterations,
  })
  .meta({ id: "FitForm", description: "multipart form; the fields may come in any order" });

/** The fields of the form beside the file, which arrive as text. */
export const FitFields = FitForm.omit({ file: true }).extend({
  max_iterations: z.coerce.number().int().min(1).max(100_000).default(1000),
});
export type FitFields = z.infer<typeof FitFields>;

const CurveOfTable = z
  .object({
    curve_id: z.string().nullable().describe("value of CurveID; null = the table has no such column"),
    parameters: z.record(z.string(), FittedParameter).describe("parameters by symbol"),
    ...fitReport,
    columns: z
      .record(z.string(), z.array(z.number()))
      .describe("(n_points) each: the data that were fitted, by column, with the values of absent optional ones"),
    fitted_values: z.array(z.number()).describe("(n_points) values of the curve, unit of the output"),
    residuals: z.array(z.number()).describe("(n_points) measured - fitted, unit of the output"),
  })
  .meta({ id: "FittedCurve", description: "the fit of one curve" });

export const FitResponse = z
  .object({
    success: z.literal(true).describe("always true: failures are answered with a status"),
    parameters: z.record(z.string(), z.number()).describe('values by symbol; with several curves "symbol (CurveID)"'),
    r_squared: z.number().nullable().describe("over all curves: 1 - residual sum / sum of squares about the mean"),
    loss: z.number().nullable().describe("sum of squared residuals of all curves"),
    converged: z.boolean().describe("every fit converged"),
    equation: z.string().describe("the equation of the model"),
    curves: z.array(CurveOfTable).describe("one entry per value of CurveID, in the order of the table, else one"),
    warnings: fitReport.warnings,
  })
  .meta({ id: "FitResponse" });
export type FitResponse = z.infer<typeof FitResponse>;
