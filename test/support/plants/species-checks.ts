// What must hold for a plant of any species at any age, and how far off it is.

import { addon } from "../../../backend/native/core/addon.ts";
import { withThreads } from "../../../backend/native/core/threads.ts";
import { expandPlants, type NativePlantMesh, placePlant } from "../../../backend/native/plants/mesh.ts";
import {
  advancePlant,
  growPlant,
  type NativePlant,
  type NativeSpecies,
  plantDocument,
  readPlantDocument,
} from "../../../backend/native/plants/plants.ts";
import type { LibrarySpecies } from "../../../backend/sessions/species-file.ts";
import type { Species } from "../../../backend/sessions/species-library.ts";
import { columnBytes } from "../native/column-bytes.ts";
import { bladeInclinations } from "./blade-inclinations.ts";
import { documentSizes } from "./document-measures.ts";
import { type MeshMeasures, meshMeasures } from "./mesh-measures.ts";

const SEED = 3;
/** No corner is deeper below the ground: radius of the thickest stem that lies on it, whose axis is there. */
export const DEEPEST_M = 0.005;
const growth = (age_days: number, seed: number, leaf_inclination: { beta_mu: number; beta_nu: number } | null) => ({
  age_days,
  seed,
  base: [0, 0, 0] as const,
  leaf_inclination,
});

export const grown = (native: NativeSpecies, age_days: number): Promise<NativePlant> =>
  growPlant(native, growth(age_days, SEED, null)).promise;

export async function documentOf(plant: NativePlant): Promise<string> {
  const column = await plantDocument(plant).promise;
  const text = new TextDecoder("utf-8", { fatal: true }).decode(columnBytes(column));
  column.release();
  return text;
}

const columnsOf = ({ is_textured: _, ...columns }: NativePlantMesh) =>
  Object.values(columns).filter((column) => column !== null);

const release = (mesh: NativePlantMesh): void => {
  for (const column of columnsOf(mesh)) column.release();
};

export interface SoundPlant extends MeshMeasures {
  readonly age_days: number;
  /** Leaf area and wood volume of the document / those of the mesh; 1 where both are 0. */
  readonly leaf_area_ratio: number;
  readonly wood_volume_ratio: number;
}

/** Share of its blades that a species' textures leave, if all of its leaves have the same. */
function coverageOf({ shapes }: LibrarySpecies): number {
  const shares = Object.values(shapes.leaves).map(({ blade, texture }) =>
    // Of a needle the one-sided area is half of the surface.
    blade.form === "needle" ? 0.5 : (texture?.coverage ?? 1),
  );
  const [one = 1] = shares;
  if (shares.some((share) => Math.abs(share - one) > 0.002)) throw new Error(`leaves of other shares: ${shares}`);
  return one;
}

const ratio = (a: number, b: number): number => (a === 0 && b === 0 ? 1 : a / b);

/** The mesh of a plant against its own document. */
export async function soundPlant({ file, native }: Species, age_days: number): Promise<SoundPlant> {
  const species = await native();
  const plant = await grown(species, age_days);
  const sizes = documentSizes(await documentOf(plant), file);
  const placed = await placePlant(plant, species).promise;
  const mesh = await expandPlants(placed, [0, 0, 0]).promise;
  for (const one of [plant, placed]) one.release();
  const measures = meshMeasures(mesh);
  release(mesh);
  return {
    ...measures,
    age_days,
    leaf_area_ratio: ratio(sizes.leaf_area_m2, measures.blade_area_m2 * coverageOf(file)),
    wood_volume_ratio: ratio(sizes.wood_volume_m3, measures.wood_volume_m3),
  };
}

interface PlantBytes {
  readonly text: string;
  readonly mesh: Buffer;
}

/** Document and mesh of a plant, made by at most so many threads; 0 = all cores. */
async function bytesOf(plant: NativePlant, native: NativeSpecies, threads: number): Promise<PlantBytes> {
  const text = await documentOf(plant);
  const placed = await withThreads(threads, () => placePlant(plant, native)).promise;
  const mesh = await withThreads(threads, () => expandPlants(placed, [0, 0, 0])).promise;
  const columns = columnsOf(mesh).map((column) => Buffer.from(columnBytes(column)));
  release(mesh);
  for (const one of [plant, placed]) one.release();
  return { text, mesh: Buffer.concat(columns) };
}

async function grownInSteps(native: NativeSpecies, age_days: number, steps: number): Promise<NativePlant> {
  let plant = await grown(native, 0);
  let age = 0;
  for (let i = 1; i <= steps; i += 1) {
    const next = i === steps ? age_days : (age_days * i) / steps;
    const older = await advancePlant(plant, native, next - age).promise;
    plant.release();
    plant = older;
    age = next;
  }
  return plant;
}

async function readBack(text: string): Promise<NativePlant> {
  const column = new addon.Column("u8", new TextEncoder().encode(text));
  const plant = await readPlantDocument(column).promise;
  column.release();
  return plant;
}

/**
 * Ways to a plant of an age that do not give the plant of growth at once, to the byte: growth in so many equal steps
 * (document), the document read back and growth on one thread and on two (document and mesh).
 */
export async function otherPlants({ native }: Species, age_days: number, steps: readonly number[]) {
  const species = await native();
  const whole = await bytesOf(await grown(species, age_days), species, 0);
  const other: string[] = [];
  for (const count of steps) {
    const plant = await grownInSteps(species, age_days, count);
    if ((await documentOf(plant)) !== whole.text) other.push(`${count} steps`);
    plant.release();
  }
  const ways: Record<string, PlantBytes> = { "read back": await bytesOf(await readBack(whole.text), species, 0) };
  for (const threads of [1, 2]) {
    const plant = await withThreads(threads, () => growPlant(species, growth(age_days, SEED, null))).promise;
    ways[`threads ${threads}`] = await bytesOf(plant, species, threads);
  }
  for (const [way, { text, mesh }] of Object.entries(ways))
    if (text !== whole.text || !mesh.equals(whole.mesh)) other.push(way);
  return other;
}

export interface SteeredBlades {
  readonly blades: number;
  readonly mean_deg: number;
  /** Probability of a Kolmogorov-Smirnov distance as large as that to the law. */
  readonly ks_p: number;
}

/** Asymptotic probability with the correction of Stephens (1970). */
function ksProbability(distance: number, n: number): number {
  const z = distance * (Math.sqrt(n) + 0.12 + 0.11 / Math.sqrt(n));
  if (z < 0.3) return 1;
  let p = 0;
  for (let k = 1; k < 100; k += 1) p += 2 * (-1) ** (k - 1) * Math.exp(-2 * k * k * z * z);
  return p;
}

/** The law with beta_mu 1 and beta_nu 3, Beta(3, 1): the cumulative share at x of 90 degrees is x^3, the mean 67.5 degrees. */
export const STEERED = { beta_mu: 1, beta_nu: 3, mean_deg: 67.5 };

/** Blades of some seeds' plants, steered to that law, all together. */
export async function steeredBlades({ native }: Species, age_days: number, seeds: number): Promise<SteeredBlades> {
  const species = await native();
  const degrees: number[] = [];
  for (let seed = 1; seed <= seeds; seed += 1) {
    const plant = await growPlant(species, growth(age_days, seed, { beta_mu: 1, beta_nu: 3 })).promise;
    const placed = await placePlant(plant, species).promise;
    degrees.push(...(await bladeInclinations(placed)));
    for (const one of [plant, placed]) one.release();
  }
  degrees.sort((a, b) => a - b);
  const n = degrees.length;
  const distance = degrees.reduce((most, value, i) => {
    const share = (value / 90) ** 3;
    return Math.max(most, Math.abs(share - i / n), Math.abs(share - (i + 1) / n));
  }, 0);
  return { blades: n, mean_deg: degrees.reduce((sum, value) => sum + value, 0) / n, ks_p: ksProbability(distance, n) };
}
