import { describe, expect, test } from "vitest";
import { invertLeaf, LEAF_PARAMETERS, leafSpectrum } from "../../backend/native/leaf-optics.ts";
import { FULL_INVERSION_DEFAULTS } from "../../shared/contract/fit-prospect.ts";
import {
  hasLeafReference,
  measuredLeaves,
  missingLeafReference,
  publishedConstants,
  referenceArray,
  referenceRows,
  traitsOf,
} from "../support/fit/leaf-reference.ts";

if (!hasLeafReference) console.warn(missingLeafReference);
const table = hasLeafReference ? publishedConstants() : null;

/** Largest difference from the truth over the leaves of a set, reflectance and transmittance. */
async function worst(set: string, step_nm: number, constants: typeof table, leaves = Number.POSITIVE_INFINITY) {
  const { shape, values } = referenceArray(`${set}_RT.npy.gz`);
  const [, count = 0, wavelengths = 0] = shape;
  let largest = 0;
  let compared = 0;
  for (const [leaf, row] of referenceRows(`${set}_params.csv`).slice(0, leaves).entries()) {
    const { reflectance, transmittance } = await leafSpectrum(traitsOf(row), constants, false).promise;
    for (let i = 0; i < wavelengths; i++) {
      const at = leaf * wavelengths + i;
      const r = Math.abs((reflectance[i * step_nm] ?? Number.NaN) - (values[at] ?? Number.NaN));
      const t = Math.abs((transmittance[i * step_nm] ?? Number.NaN) - (values[count * wavelengths + at] ?? Number.NaN));
      if (Number.isNaN(r + t)) return Number.NaN;
      largest = Math.max(largest, r, t);
      compared += 2;
    }
  }
  expect(compared).toBeGreaterThan(1000);
  return largest;
}

describe.skipIf(!hasLeafReference)("leaf optics to 50 digits", () => {
  test.each([
    ["d_full", 1],
    ["pro_full", 1],
    ["edge", 20],
  ])("%s: the plate model within 1e-12", async (set, step) => {
    expect(await worst(set, step, table)).toBeLessThan(1e-12);
  });

  test.each([
    ["d_full", 1],
    ["pro_full", 1],
  ])("%s: the constants of the program within 1e-4", async (set, step) => {
    expect(await worst(set, step, null)).toBeLessThan(1e-4);
  });

  test("derivatives", async () => {
    const { shape, values } = referenceArray("jacobian_RT.npy.gz");
    const [, leaves = 0, traits = 0, wavelengths = 0] = shape;
    const order = (["N", "Cab", "Car", "Cbrown", "Cw", "Cm", "Ant"] as const).map((name) =>
      LEAF_PARAMETERS.indexOf(name),
    );
    expect(traits).toBe(order.length);
    for (const [leaf, row] of referenceRows("jacobian_params.csv").entries()) {
      const got = await leafSpectrum(traitsOf(row), table, true).promise;
      for (const [side, slopes] of [got.reflectance_slope, got.transmittance_slope].entries()) {
        for (const [trait, index] of order.entries()) {
          for (let i = 0; i < wavelengths; i++) {
            const truth = values[((side * leaves + leaf) * traits + trait) * wavelengths + i] ?? Number.NaN;
            const error = Math.abs((slopes[index]?.[40 * i] ?? Number.NaN) - truth) / Math.max(1, Math.abs(truth));
            if (!(error < 1e-10)) expect([leaf, side, trait, i, error]).toEqual([]);
          }
        }
      }
    }
  });

  test("the full inversion ends where that of scipy does", async () => {
    const wavelengths = Array.from({ length: 2101 }, (_, i) => 400 + i);
    const params = { ...FULL_INVERSION_DEFAULTS, inversion: "full", model: "D", do_calib: true, n_starts: 2 } as const;
    const scipy = referenceRows("inv_abs_scipy.csv");
    const spectra = measuredLeaves("abs");
    for (const leaf of [0, 1, 60, 120, 199]) {
      const { parameters } = await invertLeaf({ wavelengths, reflectance: spectra[leaf] ?? [] }, params).promise;
      expect(parameters).toHaveLength(9);
      for (const { index, value, std_error } of parameters) {
        // The constants are ours: estimates differ by a fraction of what the noise does to them.
        const theirs = Number(scipy[leaf]?.[LEAF_PARAMETERS[index] ?? ""]);
        expect(Math.abs(value - theirs)).toBeLessThan(0.2 * (std_error ?? 0));
      }
    }
  });
});
