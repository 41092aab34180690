// Leaf optics against 50-digit truth, with the published constants and with those of the program.
import { leafSpectrum } from "../../backend/native/leaf-optics.ts";
import * as reference from "../support/fit/leaf-reference.ts";

/** Sets of the reference, and the step of their wavelengths, nm. */
const FORWARD = { d_full: 1, pro_full: 1, d_4nm: 4, pro_4nm: 4, d_corners: 10, pro_corners: 10, edge: 20 } as const;
export const FORWARD_SETS = Object.keys(FORWARD) as (keyof typeof FORWARD)[];

export interface ForwardRow {
  readonly set: string;
  readonly leaves: number;
  /** Largest error of reflectance and transmittance with the published constants, and with those of the program. */
  readonly published: number;
  readonly compact: number;
  /** User time a leaf, with its conversion to lists, ms. */
  readonly ms: number;
}
export async function forwardRow(set: keyof typeof FORWARD): Promise<ForwardRow> {
  const constants = reference.publishedConstants();
  const { shape, values } = reference.referenceArray(`${set}_RT.npy.gz`);
  const [, leaves = 0, wavelengths = 0] = shape;
  const worst = [0, 0];
  let used = 0;
  for (const [leaf, row] of reference.referenceRows(`${set}_params.csv`).entries()) {
    for (const [which, table] of [constants, null].entries()) {
      const begun = process.cpuUsage();
      const got = await leafSpectrum(reference.traitsOf(row), table, false).promise;
      if (!table) used += process.cpuUsage(begun).user / 1000;
      for (const [side, spectrum] of [got.reflectance, got.transmittance].entries()) {
        for (let i = 0; i < wavelengths; i++) {
          const truth = values[(side * leaves + leaf) * wavelengths + i] ?? Number.NaN;
          const error = Math.abs((spectrum[i * FORWARD[set]] ?? Number.NaN) - truth);
          if (!(error <= (worst[which] ?? 0))) worst[which] = error;
        }
      }
    }
  }
  return { set, leaves, published: worst[0] ?? 0, compact: worst[1] ?? 0, ms: used / leaves };
}
