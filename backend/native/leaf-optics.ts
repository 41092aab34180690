import type { NativeJob } from "./core/handles.ts";
import { addonAs } from "./core/load.ts";

/** Constituents of a leaf in the order of the addon; N stands before them, the calibration after. */
export const LEAF_PARAMETERS = [
  "N",
  "Cab",
  "Car",
  "Cbrown",
  "Cw",
  "Cm",
  "Ant",
  "prot",
  "cbc",
  "a_scale",
  "b_offset",
] as const;

/** N, then the contents of LEAF_PARAMETERS up to cbc, in their units. */
export type LeafTraits = readonly number[];

/** Optical constants of leaf material at every nanometre from 400 to 2500. */
export interface LeafConstants {
  readonly refractive_index: readonly number[];
  /** Specific absorption coefficients by constituent, Cab to cbc. */
  readonly absorption: readonly (readonly number[])[];
}

/** (2101) at every nanometre from 400 to 2500. */
export interface LeafSpectrum {
  readonly reflectance: number[];
  readonly transmittance: number[];
  /** Derivatives by N and by each content; empty if they were not asked for. */
  readonly reflectance_slope: number[][];
  readonly transmittance_slope: number[][];
}

export interface MeasuredSpectrum {
  /** nm, in any order. */
  readonly wavelengths: readonly number[];
  /** 0..1 */
  readonly reflectance: readonly number[];
}

export interface LeafInversionParams {
  readonly inversion: "full" | "likelihood" | "windowed";
  readonly model: "D" | "PRO";
  readonly do_calib: boolean;
  readonly n_starts: number;
  /** The rest is read by the full inversion alone. */
  readonly vis_weight: number;
  readonly vis_min: number;
  readonly vis_max: number;
  readonly green_center: number;
  readonly rededge_center: number;
  readonly violet_center: number;
  readonly window_sigma: number;
  readonly feature_boost: number;
  readonly violet_boost: number;
  readonly loss: "linear" | "soft_l1" | "huber" | "cauchy" | "arctan";
  readonly f_scale: number;
  readonly stage1: boolean;
}

export interface FittedParameter {
  /** In LEAF_PARAMETERS. */
  readonly index: number;
  readonly value: number;
  readonly std_error: number | null;
  /** Share of the prior's variance that the spectrum leaves, 0..1; the full inversion: 0. */
  readonly prior_share: number;
}

export interface InvertedLeaf {
  readonly parameters: readonly FittedParameter[];
  readonly converged: boolean;
  /** nm, every nanometre that the spectrum covers. */
  readonly wavelengths: number[];
  readonly measured: number[];
  readonly fitted: number[];
  /** Beside the full inversion: parameters of the likelihood inversion without calibration. */
  readonly likelihood: readonly FittedParameter[] | null;
}

interface LeafOpticsNative {
  invertLeaf(spectrum: MeasuredSpectrum, params: LeafInversionParams): NativeJob<InvertedLeaf>;
  leafSpectrum(traits: LeafTraits, constants: LeafConstants | null, slopes: boolean): NativeJob<LeafSpectrum>;
}

const addon = addonAs<LeafOpticsNative>();

/** Traits of a leaf from its reflectance. Errors: invalid_argument for a spectrum that cannot be inverted. */
export const invertLeaf: LeafOpticsNative["invertLeaf"] = (spectrum, params) => addon.invertLeaf(spectrum, params);
/** Optics of a leaf. Errors: invalid_argument for traits out of range. `constants`: null = those of the program. */
export const leafSpectrum: LeafOpticsNative["leafSpectrum"] = (traits, constants, slopes) =>
  addon.leafSpectrum(traits, constants, slopes);
