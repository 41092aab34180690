// Readers of optics_reference and spectra: leaf optics to 50 digits, leaves to invert, the published constants.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { LEAF_PARAMETERS, type LeafConstants } from "../../../backend/native/leaf-optics.ts";
import { DATA } from "../scans/data-folder.ts";

const FOLDER = join(DATA, "optics_reference");
const TABLE = join(DATA, "spectra", "prospect_pro_coefficients.txt");
export const hasLeafReference = existsSync(FOLDER) && existsSync(TABLE);
export const missingLeafReference = `leaf optics: there is no ${FOLDER} (APP_TEST_DATA)`;

/** N and the contents, in the order of the addon. */
export const TRAITS = LEAF_PARAMETERS.slice(0, 9);

/** The rows of a csv file by its column names. Cells in quotes may have commas. */
export function referenceRows(name: string): Readonly<Record<string, string>>[] {
  const [head = "", ...lines] = readFileSync(join(FOLDER, name), "utf8").trim().split(/\r?\n/);
  const names = head.split(",");
  return lines.map((line) => {
    const cells = line.match(/("[^"]*"|[^,]*)(,|$)/g) ?? [];
    return Object.fromEntries(names.map((key, i) => [key, (cells[i] ?? "").replace(/,$/, "").replace(/^"|"$/g, "")]));
  });
}

export const traitsOf = (row: Readonly<Record<string, string>>): number[] =>
  TRAITS.map((name) => (name in row ? Number(row[name]) : 0));

/** A gzipped .npy file of float64 or uint8: its shape and values. */
export function referenceArray(name: string): { readonly shape: number[]; readonly values: Float64Array | Uint8Array } {
  const bytes = gunzipSync(readFileSync(join(FOLDER, name)));
  const start = 10 + bytes.readUInt16LE(8);
  const header = bytes.toString("latin1", 10, start);
  const shape = (/'shape': \(([^)]*)\)/.exec(header)?.[1] ?? "").split(",").filter((part) => part.trim() !== "");
  const data = Uint8Array.from(bytes.subarray(start));
  const values = header.includes("'<f8'") ? new Float64Array(data.buffer) : data;
  if (header.includes("'fortran_order': True")) throw new Error(`${name} is in Fortran order`);
  return { shape: shape.map(Number), values };
}

/** Reflectances of the leaves to invert: every nanometre from 400 to 2500. */
export function measuredLeaves(noise: "abs" | "rel"): number[][] {
  const { values } = referenceArray(`inv_${noise}_reflectance.npy.gz`);
  const step = noise === "abs" ? 1e-4 : 2e-5;
  const half = values.length / 2;
  const wavelengths = 2101;
  return Array.from({ length: half / wavelengths }, (_, leaf) =>
    Array.from({ length: wavelengths }, (_, i) => {
      const at = leaf * wavelengths + i;
      return ((values[at] ?? Number.NaN) + 256 * (values[half + at] ?? Number.NaN)) * step;
    }),
  );
}

/** The published table. */
export function publishedConstants(): LeafConstants {
  const [head = "", ...lines] = readFileSync(TABLE, "utf8").trim().split(/\r?\n/);
  const names = head.split(/\s+/);
  const rows = lines.map((line) => line.split(/\s+/).map(Number));
  const column = (name: string) => rows.map((row) => row[names.indexOf(name)] ?? Number.NaN);
  const absorption = ["chl", "car", "brown", "ewt", "lma", "ant", "prot", "cbc"];
  return {
    refractive_index: column("nrefrac"),
    absorption: absorption.map((name) => column(`sac_${name}`)),
  };
}
