// Spectra of leaves with known traits.
import { leafSpectrum } from "../../../backend/native/leaf-optics.ts";
import { gaussian, uniform } from "../../accuracy/random.ts";

export const NANOMETRES: readonly number[] = Array.from({ length: 2101 }, (_, i) => 400 + i);

/** N, Cab, Car, Cbrown, Cw, Cm, Ant, prot, cbc of a green leaf. */
export const GREEN_LEAF: readonly number[] = [1.7, 38, 9, 0.1, 0.013, 0.006, 1.2, 0, 0];
/** The same with protein and other carbon instead of dry matter. */
export const GREEN_LEAF_PRO: readonly number[] = [1.7, 38, 9, 0.1, 0.013, 0, 1.2, 0.0015, 0.006];

/** Its reflectance at every nanometre from 400 to 2500, with normal noise. */
export async function measuredLeaf(traits: readonly number[], noise_sd = 0, seed = 1): Promise<number[]> {
  const { reflectance } = await leafSpectrum(traits, null, false).promise;
  const next = uniform(seed);
  return reflectance.map((value) => value + noise_sd * gaussian(next));
}
