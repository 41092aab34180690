import { z } from "zod";
import { MAX_FIT_PARAMETERS } from "../limits.ts";
import { Warnings } from "./fields.ts";

export const FIT_LOSSES = ["linear", "soft_l1", "huber", "cauchy", "arctan"] as const;

/** How a curve is fitted; every fit has these options. */
export const fitOptions = {
  max_iterations: z
    .int()
    .min(1)
    .max(100_000)
    .default(1000)
    .describe(
      "the residuals are evaluated at most 10 times as often from the given start, 200 times from each further one, and 10 times as often to finish the best of these",
    ),
  loss: z
    .enum(FIT_LOSSES)
    .default("linear")
    .describe(
      "how residuals r count, with z = (r / loss_scale)^2. linear: z; soft_l1: 2 (sqrt(1 + z) - 1); huber: z up to 1, then 2 sqrt(z) - 1; cauchy: log(1 + z); arctan: atan(z)",
    ),
  loss_scale: z
    .number()
    .positive()
    .default(1)
    .describe("residual from which the loss differs from linear, unit of the output; unused with linear"),
  more_starts: z
    .boolean()
    .default(true)
    .describe(
      "true: where the fit from the given start fails (does not converge, ends at a bound, leaves a parameter undetermined, or leaves over 1 % of the variation while another point is better), the best of 200 further points are tried",
    ),
  confidence_level: z.number().gt(0).lt(1).default(0.95).describe("of the intervals, between 0 and 1"),
  profile: z
    .boolean()
    .default(false)
    .describe(
      "true: intervals by the profile likelihood too; needs the linear loss (else 400) and about 20 more fits per parameter",
    ),
};

export const CustomParameter = z
  .object({
    name: z.string().min(1).max(200).describe("key of the parameter in the response"),
    symbol: z.string().max(200).describe("name of the parameter in the equation"),
    default: z.number().describe("start value, within the bounds; the value of a fixed parameter without fixedValue"),
    boundsLow: z.number().nullish().default(null).describe("lower bound; null = -1e10"),
    boundsHigh: z.number().nullish().default(null).describe("upper bound; null = 1e10"),
    fixed: z.boolean().default(false).describe("true: the parameter is known and not fitted"),
    fixedValue: z.number().nullish().default(null).describe("value of a fixed parameter; null = default"),
  })
  .meta({ id: "FitParameter", description: "a parameter of an equation" });

const Symbol_ = z
  .object({
    name: z.string().max(200).describe("for messages"),
    symbol: z.string().max(200).describe("name in the equation"),
  })
  .meta({ id: "FitSymbol", description: "an input or output of an equation" });

export const CustomFitRequest = z
  .object({
    model_type: z
      .enum(["builtin", "user"])
      .describe("user: `equation`; builtin: the model `model_id` of GET /api/models"),
    model_id: z
      .string()
      .nullish()
      .default(null)
      .describe("id of a built-in model; vulnerability = sigmoidal, pvcurve = sjb2018"),
    equation: z
      .string()
      .nullish()
      .default(null)
      .describe(
        "the output as an expression of inputs, parameters and constants: + - * / and ** or ^, brackets, sqrt exp log log10 sin cos tan asin acos atan sinh cosh tanh abs min max, pi, e. For a built-in model: used instead if that fit fails",
      ),
    equation_type: z
      .enum(["explicit", "implicit"])
      .default("explicit")
      .describe(
        "explicit: output = equation. implicit: 0 = equation, which has the output's symbol too; fitted values are the roots nearest to the measured output in Newton's method",
      ),
    parameters: z
      .array(CustomParameter)
      .describe(
        `parameters of the equation, at most ${MAX_FIT_PARAMETERS} of them free; of a built-in model, those whose start, bounds or value differ from the model's`,
      ),
    constants: z
      .array(
        z.object({
          name: z.string().max(200).describe("for messages"),
          symbol: z.string().max(200).describe("name in the equation"),
          value: z.number().describe("value"),
        }),
      )
      .nullish()
      .default(null)
      .describe("known values in the equation"),
    inputs: z.array(Symbol_).describe("independent variables; those without a mapped column cause 400"),
    outputs: z.array(Symbol_).describe("dependent variables; the first one with a mapped column is fitted"),
    column_mappings: z
      .record(z.string(), z.string())
      .describe(
        '"input_<symbol>" and "output_<symbol>": name of the column in data; of a built-in model one that states another unit than the model\'s, as "gs (mmol m-2 s-1)": 400',
      ),
    data: z
      .record(z.string(), z.array(z.number()))
      .describe("column name: its values; the columns used have the same length, at least 1"),
    ...fitOptions,
  })
  .meta({ id: "CustomFitRequest" });
export type CustomFitRequest = z.infer<typeof CustomFitRequest>;

const Interval = z
  .tuple([z.number().nullable(), z.number().nullable()])
  .describe("lower and upper limit, unit of the parameter; null = none");

export const FittedParameter = z
  .object({
    value: z.number().describe("fitted value, or the given one"),
    std_error: z
      .number()
      .nullable()
      .describe("standard error; null = fixed, at a bound, not determined by the data, or no degrees of freedom"),
    symbol: z.string().describe("name in the equation"),
    fixed: z.boolean().describe("the value was given"),
    interval: Interval.nullable().describe("value -+ t * std_error at confidence_level; null = no standard error"),
    profile_interval: Interval.optional().describe(
      "by the profile likelihood, only if asked for; a bound where the fit stays good up to it, null = open on this side",
    ),
    at_bound: z.boolean().describe("the fit ends at a bound of this parameter"),
    identifiable: z.boolean().describe("false: other values fit the data as well"),
  })
  .meta({ id: "FittedParameter", description: "a parameter of a fit" });

const perRow = (what: string) => z.array(z.number()).describe(`(n_points) ${what}, unit of the output`);

/** What every fit of a curve reports. */
export const fitReport = {
  r_squared: z
    .number()
    .nullable()
    .describe("1 - residual sum / sum of squares about the mean; 0 if the output is constant"),
  rmse: z.number().nullable().describe("root of the mean squared residual, unit of the output"),
  loss: z
    .number()
    .nullable()
    .describe("what the fit minimised: sum of squared residuals, or loss_scale^2 times the sum of the robust loss"),
  n_points: z.int().describe("rows that were fitted"),
  converged: z
    .boolean()
    .describe("no step lowers the residual sum by more than 1e-10 of it; false: a warning says what happened"),
  degrees_of_freedom: z.int().describe("rows less the parameters that the fit determined"),
  residual_std: z
    .number()
    .nullable()
    .describe("standard deviation of a residual, unit of the output; null = no degrees of freedom"),
  correlation: z
    .array(z.array(z.number().nullable()))
    .describe("correlation of the free parameters, in the order of free_parameters; null = no standard error"),
  free_parameters: z.array(z.string()).describe("keys of the fitted parameters"),
  fitted_std_errors: z
    .array(z.number())
    .nullable()
    .describe(
      "(n_points) standard errors of fitted_values, unit of the output; null = no degrees of freedom or nothing free",
    ),
  start_count: z.int().describe("starts that were fitted; above 1: the given one failed"),
  evaluation_count: z.int().describe("evaluations of all residuals, over all starts"),
  warnings: Warnings.optional().describe(
    "parameters at a bound, not determined or extrapolated, a fit that did not converge, rows off the curve, a curve that the rows do not follow, values that are none of the model's unit, and unknown request keys",
  ),
};

export const CustomFitResponse = z
  .object({
    success: z.literal(true).describe("always true: failures are answered with a status"),
    parameters: z.record(z.string(), FittedParameter).describe("parameters by name"),
    equation: z.string().describe("the equation that was fitted"),
    ...fitReport,
    fitted_values: perRow("values of the curve"),
    residuals: perRow("measured - fitted"),
  })
  .meta({ id: "CustomFitResponse" });
export type CustomFitResponse = z.infer<typeof CustomFitResponse>;
