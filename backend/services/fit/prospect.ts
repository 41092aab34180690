import {
  FULL_INVERSION_DEFAULTS,
  type FullInversionOption,
  type LeafTrait,
  type ProspectRequest,
  type ProspectResponse,
} from "../../../shared/contract/fit-prospect.ts";
import { AppError } from "../../../shared/errors.ts";
import type { Job } from "../../jobs/job.ts";
import * as native from "../../native/leaf-optics.ts";
import { leafTrait, shownTrait, symbolOf } from "./leaf-traits.ts";

const FULL_OPTIONS = Object.keys(FULL_INVERSION_DEFAULTS) as FullInversionOption[];
/** Share of the prior's variance from which on an estimate is the prior's rather than the spectrum's. */
const MOSTLY_PRIOR = 0.5;
/** Gaps of a spectrum from which on interpolated values are not measured ones, nm. */
const WIDE_GAP_NM = 50;
/** Reflectance of single leaves is followed to 0.004 to 0.012, in windows to 0.033 (39 leaves of red maple). */
const MOST_RMSE = { full: 0.02, likelihood: 0.02, windowed: 0.04 } as const;
/** What the prior and the calibration of the full inversion pull. */
const COMPARED = new Set(["N", "Cab", "Car", "Cbrown", "Cw", "Cm", "Ant", "prot", "cbc"]);

/** Errors: invalid_argument for options that the inversion does not have. */
export function leafInversionParams(request: ProspectRequest): native.LeafInversionParams {
  const { inversion, model, n_starts } = request;
  const do_calib = request.do_calib ?? inversion === "full";
  if (inversion !== "full") {
    const foreign = FULL_OPTIONS.find((option) => (request[option] ?? null) !== null);
    if (foreign) {
      throw new AppError(
        "invalid_argument",
        `${foreign} is an option of the full inversion; leave it out for the ${inversion} one`,
      );
    }
  }
  if (inversion === "windowed" && do_calib) {
    throw new AppError("invalid_argument", "the windowed inversion has no calibration; leave do_calib out");
  }
  const given = Object.fromEntries(FULL_OPTIONS.map((name) => [name, request[name] ?? FULL_INVERSION_DEFAULTS[name]]));
  return {
    ...(given as Pick<native.LeafInversionParams, FullInversionOption>),
    inversion,
    model,
    n_starts,
    do_calib,
  };
}

/** Traits of a leaf from its reflectance. Errors: invalid_argument for a spectrum that cannot be inverted. */
export async function fitProspect(
  { wavelengths, reflectance }: ProspectRequest,
  params: native.LeafInversionParams,
  job: Job,
): Promise<ProspectResponse> {
  job.stage("Inverting the spectrum", 0, 1);
  const leaf = await job.track(() => native.invertLeaf({ wavelengths, reflectance }, params));
  const parameters = Object.fromEntries(leaf.parameters.map((one) => [symbolOf(one), leafTrait(one)]));
  const residuals = leaf.fitted.map((value, i) => value - (leaf.measured[i] ?? Number.NaN));
  const n_points = residuals.length;
  const squares = sumOfSquares(residuals);
  const mean = leaf.measured.reduce((sum, value) => sum + value, 0) / n_points;
  const spread = sumOfSquares(leaf.measured.map((value) => value - mean));
  const rmse = Math.sqrt(squares / n_points);
  const warnings = [
    ...doubtfulSpectrum(rmse, params.inversion),
    ...pulledTraits(leaf, parameters),
    ...unsureTraits(leaf, parameters),
    ...unfinished(leaf),
    ...wideGap(wavelengths),
  ];
  return {
    success: true,
    parameters,
    rmse,
    r_squared: leaf.measured.some((value) => value !== leaf.measured[0]) ? 1 - squares / spread : null,
    n_points,
    converged: leaf.converged,
    fitted_spectrum: leaf.fitted,
    measured_spectrum: leaf.measured,
    wavelengths: leaf.wavelengths,
    residuals,
    message: `PROSPECT-${params.model}, ${params.inversion} inversion: RMSE ${rmse.toPrecision(3)} over ${n_points} wavelengths`,
    ...(warnings.length > 0 ? { warnings } : {}),
  };
}

const sumOfSquares = (values: readonly number[]) => values.reduce((sum, value) => sum + value * value, 0);

/** A spectrum that the model of a leaf does not follow. */
function doubtfulSpectrum(rmse: number, inversion: keyof typeof MOST_RMSE): string[] {
  if (!(rmse > MOST_RMSE[inversion])) return [];
  return [
    `The model follows the spectrum to ${rmse.toPrecision(2)} only (RMSE; single leaves: about 0.01): it is no reflectance of a single leaf (a canopy, soil, transmittance), its white reference is wrong, or it is noisy. Its traits mean little.`,
  ];
}

type Traits = Readonly<Record<string, LeafTrait>>;

/** The full inversion, where it differs from the likelihood by more than a standard error of that. */
function pulledTraits({ likelihood }: native.InvertedLeaf, parameters: Traits): string[] {
  const pulled = (likelihood ?? []).flatMap((one) => {
    const other = leafTrait(one);
    const here = parameters[other.symbol];
    const apart = here && COMPARED.has(other.symbol) ? Math.abs(here.value - other.value) : 0;
    return here && apart > (other.std_error ?? Number.POSITIVE_INFINITY)
      ? [`${other.symbol} ${shownTrait({ ...here, std_error: null, units: "-" })} (likelihood ${shownTrait(other)})`]
      : [];
  });
  if (pulled.length === 0) return [];
  return [
    `The weights, the prior and the calibration of the full inversion move estimates by more than a standard error: ${pulled.join(", ")}. For the most probable values send inversion: "likelihood".`,
  ];
}

/** Estimates at a bound, and those that the spectrum says little about. */
function unsureTraits({ parameters: fitted }: native.InvertedLeaf, parameters: Traits): string[] {
  const held = Object.values(parameters).flatMap(({ symbol, at_bound, value }) =>
    at_bound ? [`${symbol} is at its ${at_bound} bound, ${value}`] : [],
  );
  const unseen = fitted.filter(({ prior_share }) => prior_share > MOSTLY_PRIOR).map(symbolOf);
  return [
    ...(held.length > 0 ? [`${held.join("; ")}.`] : []),
    ...(unseen.length > 0
      ? [`The spectrum says little about ${unseen.join(", ")}: the estimate is close to the prior mean.`]
      : []),
  ];
}

const unfinished = ({ converged }: native.InvertedLeaf): string[] =>
  converged ? [] : ["The search ended at its limit of evaluations, not at a minimum."];

/** The widest gap between wavelengths of the model's range, if it is a wide one. */
function wideGap(wavelengths: readonly number[]): string[] {
  const ordered = wavelengths.filter((nm) => nm >= 400 && nm <= 2500).sort((a, b) => a - b);
  let widest = { from: 0, to: 0 };
  for (const [i, to] of ordered.entries()) {
    const from = ordered[i - 1] ?? to;
    if (to - from > widest.to - widest.from) widest = { from, to };
  }
  const { from, to } = widest;
  if (to - from <= WIDE_GAP_NM) return [];
  return [
    `The spectrum has no value between ${from} and ${to} nm; the straight line between these was fitted like measured values.`,
  ];
}
