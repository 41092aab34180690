import type { NativeColumn, NativeJob } from "../core/handles.ts";
import { addonAs } from "../core/load.ts";
import type { NativePlacedPlants, NativePlant, NativeSpecies } from "./plants.ts";

type Triple = readonly [number, number, number];

export interface PlacedSummary {
  readonly plant_count: number;
  /** Height of the first plant above its base, metres. */
  readonly height_m: number;
  readonly triangle_count: number;
  /** Of expandPlants. */
  readonly mesh_bytes: number;
  /** Of instancePlants: organs and tube segments. */
  readonly instance_count: number;
  /** Memory of instancePlants. */
  readonly instance_bytes: number;
  /** One-sided, of all plants. */
  readonly leaf_area_m2: number;
  readonly wood_volume_m3: number;
}

/** Triangles with corners of their own, relative to an origin. The caller owns all columns. */
export interface NativePlantMesh {
  /** f32 (9 T), metres. */
  readonly vertices: NativeColumn;
  /** f32 (9 T). */
  readonly normals: NativeColumn;
  /** f32 (9 T), 0..1. */
  readonly colors: NativeColumn;
  /** f32 (6 T), v downwards; null = no textures. */
  readonly uvs: NativeColumn | null;
  /** u32 (3 T). */
  readonly indices: NativeColumn;
  /** u32 (T), index in plantTextures, 0xffffffff = none. */
  readonly triangle_material: NativeColumn;
  /** u32 (T). */
  readonly organ_codes: NativeColumn;
  /** A triangle has a texture. */
  readonly is_textured: boolean;
}

/** Arrays of NativePlantMesh. */
export type PlantMeshField =
  | "vertices"
  | "normals"
  | "colors"
  | "uvs"
  | "indices"
  | "triangle_material"
  | "organ_codes";

/** Opaque handle to triangles that are computed as they are read. */
export interface NativeOpenPlantMesh {
  /** A triangle has a texture. */
  readonly is_textured: boolean;
  release(): void;
}

/** Organs and tube segments as references to prototypes. The caller owns all columns. */
export interface NativePlantInstances {
  /** Shapes of the species' organs, then those of tube segments, in one mesh. */
  readonly prototypes: NativePlantMesh;
  readonly prototype_names: readonly string[];
  /** (P + 1) first triangle of each prototype. */
  readonly prototype_firsts: readonly number[];
  /** u32 (I). */
  readonly instance_prototype: NativeColumn;
  /** u32 (I), number of the plant. */
  readonly instance_plant: NativeColumn;
  /** f32 (12 I), 3 x 4, row-major, relative to the origin. */
  readonly instance_matrix: NativeColumn;
}

export interface PlantMeshNative {
  placePlant(plant: NativePlant, species: NativeSpecies): NativeJob<NativePlacedPlants>;
  placedSummary(placed: NativePlacedPlants): PlacedSummary;
  openPlantMesh(placed: NativePlacedPlants, origin: Triple): NativeJob<NativeOpenPlantMesh>;
  readPlantMesh(mesh: NativeOpenPlantMesh, field: PlantMeshField, out: Uint8Array, byteOffset: number): number;
  expandPlants(placed: NativePlacedPlants, origin: Triple): NativeJob<NativePlantMesh>;
  instancePlants(placed: NativePlacedPlants, origin: Triple): NativeJob<NativePlantInstances>;
  plantTextures(species: NativeSpecies): readonly string[];
}

const addon = addonAs<PlantMeshNative>();

/** Puts the organs of one plant in place. */
export const placePlant: PlantMeshNative["placePlant"] = (plant, species) => addon.placePlant(plant, species);
export const placedSummary: PlantMeshNative["placedSummary"] = (placed) => addon.placedSummary(placed);
/** All triangles. Errors: unsupported for more corners than 32-bit indices count. */
export const expandPlants: PlantMeshNative["expandPlants"] = (placed, origin) => addon.expandPlants(placed, origin);
/** The same triangles, not stored. Errors: as expandPlants. */
export const openPlantMesh: PlantMeshNative["openPlantMesh"] = (placed, origin) => addon.openPlantMesh(placed, origin);
/** Computes bytes of an array of NativePlantMesh from `byteOffset` on; returns their number, 0 at the end. */
export const readPlantMesh: PlantMeshNative["readPlantMesh"] = (mesh, field, out, byteOffset) =>
  addon.readPlantMesh(mesh, field, out, byteOffset);
/** A matrix for every organ and every segment of a tube. */
export const instancePlants: PlantMeshNative["instancePlants"] = (placed, origin) =>
  addon.instancePlants(placed, origin);
/** Texture files of a species, in resources/leaf-textures. */
export const plantTextures: PlantMeshNative["plantTextures"] = (species) => addon.plantTextures(species);
