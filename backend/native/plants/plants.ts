import type { LeafInclination } from "../../../shared/contract/plant.ts";
import type { PlantShapes } from "../../../shared/contract/plant-shapes.ts";
import type { PlantGrowth } from "../../../shared/contract/plant-species.ts";
import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import { completeShapes } from "../plant-shapes.ts";

type Triple = readonly [number, number, number];

/** Growth parameters and organ prototypes of a species. */
export interface NativeSpecies {
  release(): void;
}
/** The structure of one plant; it never changes. */
export interface NativePlant {
  release(): void;
}
/** Plants of one species with their organs in place. */
export interface NativePlacedPlants {
  release(): void;
}

export interface GrowthParams {
  readonly age_days: number;
  readonly seed: number;
  readonly base: Triple;
  readonly leaf_inclination: LeafInclination | null;
}

export interface CanopyParams {
  readonly age_days: number;
  readonly seed: number;
  readonly leaf_inclination: LeafInclination | null;
  readonly center: Triple;
  readonly spacing: readonly [number, number];
  readonly count: readonly [number, number];
  readonly germination_rate: number;
}

export interface PlantSummary {
  readonly age_days: number;
  readonly base: Triple;
  /** null for a plant that cannot grow: its document is of another program. */
  readonly growth: { readonly species_id: string; readonly seed: number } | null;
  readonly leaf_inclination: LeafInclination | null;
  readonly shoot_count: number;
  readonly phytomer_count: number;
  readonly leaf_count: number;
}

/** Greatest sizes that a plant can reach by an age. */
export interface PlantCost {
  readonly phytomer_count: number;
  readonly organ_count: number;
  /** Memory of its structure. */
  readonly structure_bytes: number;
  /** Memory of its triangles, on top. */
  readonly mesh_bytes: number;
}

/** A canopy whose plants grow in parts, each on one thread. */
export interface NativeCanopy {
  readonly plant_count: number;
  /** Complete when every plant has grown. */
  readonly placed: NativePlacedPlants;
  /** Grows some plants; the structure of plant 0, null without it. Call it once for every plant. */
  grow(first: number, count: number): NativeJob<NativePlant | null>;
}

export interface PlantsNative {
  openPlantSpecies(growth: PlantGrowth, shapes: PlantShapes): NativeJob<NativeSpecies>;
  plantCost(species: NativeSpecies, ageDays: number): PlantCost;
  growPlant(species: NativeSpecies, params: GrowthParams): NativeJob<NativePlant>;
  advancePlant(plant: NativePlant, species: NativeSpecies, days: number): NativeJob<NativePlant>;
  openCanopy(species: NativeSpecies, params: CanopyParams): NativeCanopy;
  plantSummary(plant: NativePlant): PlantSummary;
  plantDocument(plant: NativePlant, wordBytes: number): NativeJob<NativeColumn>;
  readPlantDocument(text: NativeColumn): NativeJob<NativePlant>;
}

const addon = addonAs<PlantsNative>();

/** A species that can grow. Errors: invalid_argument, naming the field. */
export const openPlantSpecies: PlantsNative["openPlantSpecies"] = (growth, shapes) =>
  addon.openPlantSpecies(growth, completeShapes(shapes));
/** What growing to an age may need. */
export const plantCost: PlantsNative["plantCost"] = (species, ageDays) => addon.plantCost(species, ageDays);
/** A plant of that age, or of the largest age of its species. */
export const growPlant: PlantsNative["growPlant"] = (species, params) => addon.growPlant(species, params);
/** The plant some days later; the given one stays as it is. */
export const advancePlant: PlantsNative["advancePlant"] = (plant, species, days) =>
  addon.advancePlant(plant, species, days);
/** The plants of a canopy; plant i grows as growPlant lets one grow, with a seed of its own. */
export const openCanopy: PlantsNative["openCanopy"] = (species, params) => addon.openCanopy(species, params);
export const plantSummary: PlantsNative["plantSummary"] = (plant) => addon.plantSummary(plant);
/** The structure document, u8 (UTF-8), with blanks at its end up to a multiple of `wordBytes`. */
export const plantDocument = (plant: NativePlant, wordBytes = 1): NativeJob<NativeColumn> =>
  addon.plantDocument(plant, wordBytes);
/** The plant of a structure document, u8 (UTF-8). Errors: invalid_file, naming the element and the line. */
export const readPlantDocument: PlantsNative["readPlantDocument"] = (text) => addon.readPlantDocument(text);
