import { z } from "zod";

export const RESULT_FORMATS = ["xlsx", "csv", "json"] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

const text = (what: string, longest = 1000) => z.string().max(longest).nullish().describe(what);
const figure = (what: string) => z.number().nullish().describe(what);
const count = (what: string) => z.int().nullish().describe(what);

/** Numbers of a column; null = an empty cell. Checked in one loop. */
const ResultColumn = z
  .custom<(number | null)[]>(
    (value) => Array.isArray(value) && value.every((one) => one === null || Number.isFinite(one)),
    { message: "must be a list of finite numbers and nulls" },
  )
  .meta({ type: "array", items: { type: ["number", "null"] } });
const column = (what: string) => ResultColumn.nullish().describe(what);

export const ResultParameter = z
  .object({
    value: figure("value; null = an empty cell"),
    std_error: figure("standard error, in the units of the value"),
    fixed: z.boolean().nullish().describe("true: not fitted; default false"),
    symbol: text("symbol; default: the name of the parameter"),
    units: text("units"),
    description: text("what the parameter is"),
  })
  .meta({ id: "ResultParameter", description: "a parameter of a fit" });
export type ResultParameter = z.infer<typeof ResultParameter>;

export const ExportResultsRequest = z
  .object({
    model_name: z.string().min(1).max(200).describe("name of the model; begins the name of the file"),
    model_type: text("kind of model; default Custom"),
    equation: text("equation of the model", 30_000),
    file_name: text("file that the data came from; default Not specified"),
    y_column_name: text("name of the modelled column; default Y"),
    parameters: z
      .record(z.string().max(1000), z.union([z.number().describe("a fitted value"), ResultParameter]))
      .describe("parameters by name: a value, or a record of it"),
    r_squared: figure("coefficient of determination"),
    rmse: figure("root mean square error, in units of y"),
    n_points: count("number of data points"),
    max_iterations: count("limit of iterations; default Default"),
    fitted_values: column("modelled y of each row"),
    residuals: column("residual of each row"),
    y_measured: column("measured y of each row"),
    input_data: z
      .record(z.string().max(1000), ResultColumn.describe("a cell per row"))
      .nullish()
      .describe(
        "input columns by name. The first column of the table determines the number of rows: shorter ones end in empty cells, longer ones are cut, which the header X-Warnings reports",
      ),
    model_tags: z.array(z.string().max(200)).max(100).nullish().describe("tags of the model"),
    format: z
      .enum(RESULT_FORMATS)
      .default("xlsx")
      .describe("xlsx: a workbook; csv: the sheets of the workbook one below the other; json: the same as an object"),
  })
  .meta({ id: "ExportResultsRequest", description: "the result of a fit" });
export type ExportResultsRequest = z.infer<typeof ExportResultsRequest>;
