import { z } from "zod";
import { MAX_PROSPECT_STARTS } from "../limits.ts";
import { Warnings } from "./fields.ts";
import { FIT_LOSSES } from "./fit-custom.ts";
import { NumberList } from "./geometry.ts";

export const LEAF_MODELS = ["D", "PRO"] as const;
export const LEAF_INVERSIONS = ["full", "likelihood", "windowed"] as const;

/** Options of the full inversion where they are absent. */
export const FULL_INVERSION_DEFAULTS = {
  vis_weight: 6,
  loss: "soft_l1",
  f_scale: 0.08,
  stage1: true,
  green_center: 550,
  rededge_center: 705,
  violet_center: 410,
  window_sigma: 20,
  feature_boost: 2,
  violet_boost: 2,
  vis_min: 380,
  vis_max: 750,
} as const;
export type FullInversionOption = keyof typeof FULL_INVERSION_DEFAULTS;

/** An option of the full inversion; null = its default. */
const full = <S extends z.ZodType>(schema: S, option: FullInversionOption, what: string) =>
  schema
    .nullish()
    .describe(
      `${what}; default ${FULL_INVERSION_DEFAULTS[option]}. For the full inversion: with another one it must be absent (400)`,
    );
const weight = z.number().min(0).max(1e6);
const nanometres = z.number().min(-1e6).max(1e6);

export const ProspectRequest = z
  .object({
    wavelengths: NumberList.describe("nm, in any order, none twice; those outside 400..2500 are not used"),
    reflectance: NumberList.describe(
      "directional-hemispherical reflectance of the leaf at each wavelength, 0..1 (400 outside -0.1..1.2)",
    ),
    model: z
      .enum(LEAF_MODELS)
      .default("D")
      .describe("D: PROSPECT-D with dry matter Cm; PRO: PROSPECT-PRO with protein and other carbon instead"),
    inversion: z
      .enum(LEAF_INVERSIONS)
      .default("full")
      .describe(
        "full: weighted robust least squares with a fixed prior; likelihood: the most probable leaf, residuals weighed by the noise that they show; windowed: each trait from the wavelengths that show it",
      ),
    n_starts: z
      .int()
      .min(1)
      .max(MAX_PROSPECT_STARTS)
      .default(6)
      .describe("starts of the search: the prior means, and these times 0.85 to 1.15 each"),
    do_calib: z
      .boolean()
      .nullish()
      .describe(
        "also fit a calibration a_scale * R + b_offset; null: true for full, false otherwise. windowed: true is refused (400)",
      ),
    vis_weight: full(weight, "vis_weight", "factor of the weight between vis_min and vis_max"),
    loss: full(z.enum(FIT_LOSSES), "loss", "loss of the weighted residuals"),
    f_scale: full(z.number().min(1e-6).max(1e6), "f_scale", "weighted residual above which the loss flattens"),
    stage1: full(
      z.boolean(),
      "stage1",
      "fit 400..750 nm first, with what visible light does not see at its prior mean, then the whole spectrum",
    ),
    green_center: full(nanometres, "green_center", "centre of the green window, nm"),
    rededge_center: full(nanometres, "rededge_center", "centre of the red-edge window, nm"),
    violet_center: full(nanometres, "violet_center", "centre of the violet window, nm"),
    window_sigma: full(z.number().min(1e-3).max(1e6), "window_sigma", "standard deviation of the Gaussian windows, nm"),
    feature_boost: full(weight, "feature_boost", "weight added at the centres of the green and red-edge windows"),
    violet_boost: full(weight, "violet_boost", "weight added at the centre of the violet window"),
    vis_min: full(nanometres, "vis_min", "begin of the visible band, nm"),
    vis_max: full(nanometres, "vis_max", "end of the visible band, nm"),
  })
  .meta({ id: "ProspectRequest", description: "a measured leaf spectrum, and how to invert it" });
export type ProspectRequest = z.infer<typeof ProspectRequest>;

export const LeafTrait = z
  .object({
    value: z.number().describe("estimate, in its units"),
    std_error: z
      .number()
      .nullable()
      .describe(
        "standard error, in the same units. full: of the noise alone, the pull of the prior is not in it; likelihood and windowed: of the posterior (windowed: given the traits of the windows before)",
      ),
    at_bound: z.enum(["lower", "upper"]).nullable().describe("the bound that the estimate lies at; null = none"),
    symbol: z.string().describe("symbol of the trait"),
    units: z.string().describe("units; - = none"),
    description: z.string().describe("what the trait is"),
    fixed: z.literal(false).describe("false: fitted"),
  })
  .meta({ id: "LeafTrait", description: "a fitted leaf trait" });
export type LeafTrait = z.infer<typeof LeafTrait>;

export const ProspectResponse = z
  .object({
    success: z
      .literal(true)
      .describe("true: the model has a value for every leaf within the bounds, so no start fails"),
    parameters: z
      .record(z.string(), LeafTrait)
      .describe(
        "by symbol: N, Cab, Car, Cbrown, Cw, Ant, with model D Cm, with PRO prot and cbc, with a calibration a_scale and b_offset",
      ),
    rmse: z.number().describe("root mean square of the residuals, not weighted"),
    r_squared: z
      .number()
      .nullable()
      .describe("1 - sum of squared residuals / sum of squares about the mean; null for a constant spectrum"),
    n_points: z.int().describe("number of wavelengths used"),
    converged: z.boolean().describe("the search ended at a minimum; false: at its limit of evaluations"),
    fitted_spectrum: z.array(z.number()).describe("(n_points) reflectance of the fitted leaf, calibration included"),
    measured_spectrum: z.array(z.number()).describe("(n_points) the spectrum, interpolated linearly"),
    wavelengths: z.array(z.number()).describe("(n_points) nm: every nanometre of 400..2500 that the spectrum covers"),
    residuals: z.array(z.number()).describe("(n_points) fitted - measured"),
    message: z.string().describe("the result in a sentence"),
    warnings: Warnings.optional(),
  })
  .meta({ id: "ProspectResponse", description: "a fitted leaf" });
export type ProspectResponse = z.infer<typeof ProspectResponse>;
